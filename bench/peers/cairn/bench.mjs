// usage: node cairn/bench.mjs w1|w2|w3|w4|w5|w5one|w5lat|w6   (starts its own server and worker in a fresh directory)
// CAIRN: the binary. STORE: sqlite (default) or postgres (then PG_URL is used, in a fresh database, with STORE_OPTIONS behind it).
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT, env, num, sleep, now, closedLoop, pooled, quantiles, Meter, report, r3, freshDb, PG_PID } from '../lib/common.mjs';
import { httpClient } from '../lib/http.mjs';

const what = process.argv[2];
const binary = path.resolve(env('CAIRN', path.join(ROOT, '../../build/release/cairn')));
const dir = fs.mkdtempSync(path.join(env('DATA_DIR', os.tmpdir()), 'cairn-'));
const store = env('STORE', 'sqlite');
const url = store === 'postgres' ? (await freshDb('peers_cairn')) + env('STORE_OPTIONS', '') : `sqlite:${dir}/cairn.db`;
const call5 = [1, 2, 3, 4, 5].map((n) => ({ id: `s${n}`, call: { worker: { type: 'bench.ok.v1', payload: {} }, result: 'last' } }));
const definitions = {
  w1: { steps: call5.slice(0, 1), output: { ok: '= state.last.ok' } },
  w2: { steps: call5, output: { ok: '= state.last.ok' } },
  w3: { steps: [{ id: 'event', signal: { name: 'go', result: 'event' } }], output: { v: '= state.event' } },
  w4: { steps: [{ id: 'sleep', wait: { until: '= timestamp(input.at)' } }] },
};

const server = spawn(binary, ['serve', '--listen', '127.0.0.1:0', '--auth', 'none', '--log-level', 'error', '--store', url], { cwd: dir, stdio: ['ignore', 'pipe', 'inherit'] });
const line = await new Promise((found, lost) => { server.stdout.once('data', (d) => found(String(d))); server.once('exit', lost); });
const base = /http:\/\/[^/\s]+/.exec(line)[0];
server.stdout.resume();
const needsWorker = ['w1', 'w2', 'w5', 'w5lat'].includes(what);
let worker;
const startWorker = (tellAt = 0) => { worker = spawn(process.execPath, [path.join(ROOT, 'cairn/worker.mjs'), base], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, TELL_AT: tellAt } }); };
if (needsWorker && what !== 'w5') startWorker();
process.on('exit', () => { worker?.kill('SIGKILL'); server.kill('SIGKILL'); fs.rmSync(dir, { recursive: true, force: true }); });
process.on('SIGTERM', () => process.exit(1));
process.on('SIGINT', () => process.exit(1));

const { hostname, port } = new URL(base);
const call = httpClient(hostname, port);
for (const [name, body] of Object.entries(definitions))
  await call('POST', '/v1/definitions', { cairn: 1, name: `bench.${name}`, version: '1.0.0', ...body });
const start = async (name, input = {}) => JSON.parse(await call('POST', '/v1/instances', { definition: `bench.${name}`, input })).id;
const finish = async (name) => {
  const answer = JSON.parse(await call('POST', '/v1/instances?wait=30s', { definition: `bench.${name}`, input: {} }));
  if (answer.status !== 'completed') throw new Error(answer.status);
};
const meter = () => new Meter({ server: server.pid, ...(store === 'postgres' && { database: PG_PID }), ...(worker && { worker: worker.pid }), client: process.pid });
const head = { system: env('LABEL', `cairn ${store}`), version: JSON.parse(await call('GET', '/v1/info')).cairn, settings: { store } };
const record = (rest) => report({ ...head, workload: what, ...rest });

if (what === 'w1' || what === 'w2') {
  await finish(what);
  for (const c of env('C', '1,16,64,256').split(',').map(Number)) record(await closedLoop(c, () => finish(what), { meter: meter() }));
} else if (what === 'w3') {
  const n = num('N', 5000), ids = [];
  const t0 = now();
  await pooled(n, 64, async (i) => { ids[i] = await start('w3'); });
  const started = now() - t0;
  await sleep(3000);
  const lat = [], m = meter().start(), t1 = now();
  await pooled(n, 64, async (i) => {
    const t = now();
    // The answer is given when the instance has moved, and holds its output.
    const answer = JSON.parse(await call('POST', `/v1/instances/${ids[i]}/signals`, { name: 'go', payload: i }));
    if (answer.status !== 'completed') throw new Error(answer.status);
    lat.push(now() - t);
  });
  record({ n, start_rate: r3(n / started * 1000), rate: r3(n / ((now() - t1) / 1000)), lat_ms: quantiles(lat), ...m.stop() });
} else if (what === 'w4') {
  const n = num('N', 10000), T = Math.ceil(now() + num('AHEAD', 20000)), m = meter().start(), t0 = now();
  await pooled(n, 64, () => start('w4', { at: new Date(T).toISOString() }));
  const started = now() - t0, spare = T - now();
  await sleep(Math.max(0, T - now()));
  // Asked for one that still waits, not for all that have ended: that would be part of the load.
  const left = async () => JSON.parse(await call('GET', '/v1/instances?definition=bench.w4&status=waiting&limit=1')).items.length;
  for (const until = T + 60000; now() < until && (await left());) await sleep(100);
  const late = [];
  for (let cursor = ''; ;) {
    const page = JSON.parse(await call('GET', `/v1/instances?definition=bench.w4&status=completed&limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`));
    for (const one of page.items) late.push(Date.parse(one.ended_at) - T);
    if (!(cursor = page.next_cursor)) break;
  }
  const q = quantiles(late);
  record({ n, woke: late.length, start_rate: r3(n / started * 1000), started_before_T_ms: r3(spare), late_ms: q, min_late: Math.min(...late), rate: r3(n / Math.max(0.001, q.max / 1000)), ...m.stop() });
} else if (what === 'w5') {
  for (let rep = 0; rep < num('REP', 3); rep++) {
    const n = num('N', 20000), t0 = now();
    for (let i = 0; i < n; i += 5000)
      await call('POST', '/v1/runs/batch', { runs: Array.from({ length: Math.min(5000, n - i) }, (_, k) => ({ type: 'bench.ok.v1', payload: { i: i + k } })) });
    const enqueued = now() - t0;
    startWorker(n);
    const m = meter().start(), t1 = now();
    // The list is asked only when little is left: asking it all the time would be part of the load.
    await new Promise((done) => worker.stdout.once('data', done));
    for (;;) {
      await sleep(5);
      if (!JSON.parse(await call('GET', '/v1/runs?status=pending&limit=1')).items.length && !JSON.parse(await call('GET', '/v1/runs?status=leased&limit=1')).items.length) break;
    }
    record({ n, bulk_rate: r3(n / enqueued * 1000), rate: r3(n / ((now() - t1) / 1000)), ...m.stop() });
    // Gone before the next jobs come: one that is dying still has a place in the line.
    const gone = new Promise((done) => worker.once('exit', done));
    worker.kill('SIGKILL');
    await gone;
  }
} else if (what === 'w5one') {
  for (let rep = 0; rep < num('REP', 3); rep++) record(await closedLoop(64, () => call('POST', '/v1/runs', { type: 'later.ok.v1', payload: { i: 1 } }), { meter: meter() }));
} else if (what === 'w5lat') {
  const n = num('SAMPLES', 200);
  await sleep(2000);
  for (let rep = 0; rep < num('REP', 3); rep++) {
    const lat = [], begun = new Map(), m = meter().start();
    const take = (text) => { for (const l of String(text).split('\n').filter(Boolean)) { const [i, at] = l.split(' '); lat.push(Number(at) - begun.get(Number(i))); } };
    worker.stdout.on('data', take);
    for (let i = 0; i < n; i++) { await sleep(-Math.log(1 - Math.random()) * 25); begun.set(i, now()); await call('POST', '/v1/runs', { type: 'bench.lat.v1', payload: { i } }); }
    while (lat.length < n) await sleep(20);
    worker.stdout.off('data', take);
    record({ lat_ms: quantiles(lat), ...m.stop() });
  }
} else if (what === 'w6') {
  const n = num('N', 10000), t0 = now();
  await pooled(n, 64, () => start('w3'));
  const started = now() - t0;
  await sleep(num('SETTLE', 8000));
  for (let k = 0; k < 3; k++) {
    const m = meter().start();
    await sleep(num('IDLE', 30000) / 3);
    record({ n, start_rate: r3(n / started * 1000), ...m.stop() });
  }
}
process.exit(0);
