// Runs every workload of every system RUNS times, one after the other, and appends to out/results.jsonl.
// A record during which other processes used more than 12 % of the machine's CPU is repeated (at most MAX_TRIES).
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { env, num, sleep, ROOT } from './lib/common.mjs';

const open = { PARTITIONS: 4, INVOKER_LIMIT: 12000, INACTIVITY_MS: 60000 };
const susp = { PARTITIONS: 4, INACTIVITY_MS: 100 };
const levels = (c) => ({ C: Array(num('REP', 3)).fill(c).join(',') });
const all = levels('1,16,64,256');
const plan = [
  ['cairn sqlite', 'cairn', 'w1', all],
  ['cairn sqlite', 'cairn', 'w2', all],
  ...['w3', 'w4', 'w5', 'w5one', 'w5lat', 'w6'].map((w) => ['cairn sqlite', 'cairn', w, {}]),
  ['cairn postgres', 'cairn', 'w1', { ...all, STORE: 'postgres' }],
  ['cairn postgres', 'cairn', 'w2', { ...all, STORE: 'postgres' }],
  ...['w3', 'w4', 'w5', 'w5one', 'w5lat', 'w6'].map((w) => ['cairn postgres', 'cairn', w, { STORE: 'postgres' }]),
  ['cairn postgres without trail', 'cairn', 'w5', { STORE: 'postgres', STORE_OPTIONS: '?run_events=off' }],
  // label, script, workload, environment; closed loops, drains and idle windows repeat inside one program run
  ['restate', 'restate', 'w1', { ...open, ...all }],
  ['dbos', 'dbos', 'w1', all],
  ['restate', 'restate', 'w2', { ...open, ...all }],
  ['dbos', 'dbos', 'w2', all],
  ['restate', 'restate', 'w1wf', { ...open, ...levels('64') }],
  ['restate', 'restate', 'w3', open],
  ['dbos', 'dbos', 'w3', {}],
  ['restate', 'restate', 'w4', open],
  ['dbos', 'dbos', 'w4', { AHEAD: 40000 }],
  ...['w5', 'w5one', 'w4', 'w5lat'].map((w) => ['pg-boss', 'pg-boss', w, {}]),
  ...['w5', 'w5one', 'w4', 'w5lat'].map((w) => ['graphile-worker', 'graphile-worker', w, {}]),
  ['bullmq everysec', 'bullmq', 'w1', { ...all, APPENDFSYNC: 'everysec' }],
  ...['w5', 'w5one', 'w4', 'w5lat'].map((w) => ['bullmq everysec', 'bullmq', w, { APPENDFSYNC: 'everysec' }]),
  ['bullmq always', 'bullmq', 'w1', { ...all, APPENDFSYNC: 'always' }],
  ...['w5', 'w5one', 'w5lat'].map((w) => ['bullmq always', 'bullmq', w, { APPENDFSYNC: 'always' }]),
  ['dbos', 'dbos', 'w5lat', {}],
  ['dbos', 'dbos', 'w5', {}],
  ['restate suspending', 'restate', 'w3', susp],
  ['restate suspending', 'restate', 'w4', susp],
  ['restate defaults', 'restate', 'w1', levels('1,64,256')],
  ['openworkflow', 'openworkflow', 'w1', levels('1,64')],
  ['openworkflow', 'openworkflow', 'w2', levels('1,64')],
  ['restate', 'restate', 'w6', open],
  ['restate suspending', 'restate', 'w6', susp],
  ['dbos', 'dbos', 'w6', {}],
  ['pg-boss', 'pg-boss', 'w6', {}],
  ['graphile-worker', 'graphile-worker', 'w6', {}],
  ['bullmq everysec', 'bullmq', 'w6', { APPENDFSYNC: 'everysec' }],
  ['openworkflow', 'openworkflow', 'w3', { N: 2000 }],
  ['openworkflow', 'openworkflow', 'w4', { N: 2000 }],
  ['openworkflow', 'openworkflow', 'w6', { N: 2000 }],
];
const only = process.env.ONLY?.split(',');       // e.g. ONLY=restate:w1,dbos
const RUNS = num('RUNS', 3), MAX = num('MAX_TRIES', 6), LIMIT = num('OTHER_LIMIT', 0.12);
const want = ([label, , w]) => !only || only.some((o) => { const [l, x] = o.split(':'); return label === l && (!x || x === w); });

function busy() {
  const f = fs.readFileSync('/proc/stat', 'latin1').split('\n')[0].trim().split(/\s+/).slice(1).map(Number);
  return { b: f[0] + f[1] + f[2] + f[5] + f[6] + f[7], t: f.slice(0, 8).reduce((a, c) => a + c, 0) };
}
async function quiet() { // wait (at most QUIET_WAIT ms) for the machine to be idle
  for (const end = Date.now() + num('QUIET_WAIT', 20000); Date.now() < end;) {
    const a = busy(); await sleep(1000); const z = busy();
    if ((z.b - a.b) / (z.t - a.t) < 0.15) return;
  }
}
// Runs the items of one group one after the other under one hold of the lock.
function exec(group) {
  return new Promise((res) => {
    const sh = group.map(([, script, w, e]) => `${e.APPENDFSYNC ? `redis-cli -u ${env('REDIS_URL', 'redis://127.0.0.1:56379')} config set appendfsync ${e.APPENDFSYNC} >/dev/null; ` : ''}env ${Object.entries(e).map(([k, v]) => `${k}=${v}`).join(' ')} ${process.execPath} ${ROOT}/${script}/bench.mjs ${w}; echo "#END $?"`).join('\n');
    const argv = process.env.BENCH_LOCK ? ['flock', process.env.BENCH_LOCK, 'sh', '-c', sh] : ['sh', '-c', sh];
    const p = spawn('timeout', [env('TIMEOUT', '500'), ...argv], { env: { ...process.env, RESULTS: '/dev/null' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '', err = '';
    p.stdout.on('data', (d) => (out += d)); p.stderr.on('data', (d) => (err += d));
    p.on('close', () => {
      const chunks = out.split(/#END (\d+)\n/);
      res(group.map((_, i) => ({ code: Number(chunks[2 * i + 1] ?? 1), err, recs: (chunks[2 * i] ?? '').split('\n').filter((l) => l.startsWith('{')).map((l) => JSON.parse(l)) })));
    });
  });
}
const results = env('RESULTS', `${ROOT}/out/results.jsonl`);
fs.mkdirSync(`${ROOT}/out`, { recursive: true });
// undisturbed records so far of the level that has fewest (an interrupted series continues where it stopped)
function clean([label, , w, e]) {
  if (!fs.existsSync(results)) return 0;
  const n = new Map((e.C ?? '').split(',').map((c) => [c, 0]));
  for (const x of fs.readFileSync(results, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l)))
    if (x.system === label && x.workload === w && (w === 'w6' || (x.other_share ?? 0) <= LIMIT)) { const c = String(x.c && e.C ? x.c : ''); n.set(c, (n.get(c) ?? 0) + 1); }
  return Math.min(...n.values());
}
// rough seconds of one program run: consecutive items are grouped up to HOLD seconds under one hold of the lock
const rough = { restate: { w1: 45, w2: 45, w1wf: 17, w3: 35, w4: 40, w6: 50 }, dbos: { w1: 45, w2: 45, w3: 45, w4: 60, w5: 45, w5lat: 22, w6: 70 }, openworkflow: { w1: 26, w2: 26, w3: 40, w4: 45, w6: 50 } };
const cost = ([, s, w]) => rough[s]?.[w] ?? { w1: 42, w5: 10, w5one: 11, w4: 15, w5lat: 20, w6: 37 }[w];
for (let round = 0; round < MAX; round++) {
  const todo = plan.filter(want);
  while (todo.length) {
    const g = [];
    for (let sum = 0; todo.length; ) {
      if (clean(todo[0]) >= RUNS) { todo.shift(); continue; }
      if (g.length && sum + cost(todo[0]) > num('HOLD', 58)) break;
      sum += cost(todo[0]);
      g.push(todo.shift());
    }
    if (!g.length) continue;
    await quiet();
    const t = Date.now();
    const rs = await exec(g);
    rs.forEach((r, i) => {
      const [label, , w] = g[i];
      for (const x of r.recs) fs.appendFileSync(results, JSON.stringify({ ...x, system: label, run: t }) + '\n');
      const ok = r.code === 0 && r.recs.length > 0;
      console.log(new Date().toISOString().slice(11, 19), `round ${round}`, label, w, `${((Date.now() - t) / 1000).toFixed(0)}s`, ok ? `other ${r.recs.map((x) => x.other_share).join(' ')} |` : `FAILED ${r.code} ${r.err.slice(-300)}`, r.recs.map((x) => x.rate ?? x.lat_ms?.p50 ?? JSON.stringify(x.cpu_s)).join(' '));
    });
  }
}
