// usage: node compare.mjs [--quick] [BOUT…]     runs the comparison and appends to out/compare.jsonl
// An interrupted run continues where it stopped, as long as the binary and the sizes are the same; --fresh begins anew.
// Needs the servers of servers.sh (PG_URL, PG_PID, REDIS_URL, REDIS_PID) and node_modules.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT, env } from './lib/common.mjs';
import { FULL, QUICK, bouts, command, identity, records, shown } from './contest.mjs';

const flags = process.argv.slice(2);
const quick = flags.includes('--quick');
const only = flags.filter((flag) => !flag.startsWith('--'));
const size = quick ? QUICK : FULL;
const file = env('COMPARISON', path.join(ROOT, 'out', quick ? 'quick.jsonl' : 'compare.jsonl'));
const folder = env('DATA_DIR', os.tmpdir());
const limit_ms = 180_000;

fs.mkdirSync(path.dirname(file), { recursive: true });
const began = Date.now();
const said = (text) => console.log(new Date().toISOString().slice(11, 19), text);

const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l)) : [];
const goes_on = !flags.includes('--fresh') && lines[0]?.identity === identity(size);
if (lines.length && !goes_on) fs.renameSync(file, file.replace(/\.jsonl$/, `-${Date.now()}.jsonl`));
if (!goes_on) {
  fs.writeFileSync(file, JSON.stringify({ identity: identity(size), at: new Date().toISOString(), size, load: os.loadavg()[0] }) + '\n');
}
const done = new Set(goes_on ? lines.filter((l) => l.done).map((l) => l.done) : []);
if (done.size) said(`goes on: ${done.size} parts are there already`);

function run(contestant, { file: program, args, environment }) {
  return new Promise((finished) => {
    const child = spawn(program, args, { cwd: ROOT, env: { ...process.env, ...environment, DATA_DIR: folder, RESULTS: '/dev/null' }, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '', errors = '';
    child.stdout.on('data', (d) => (output += d));
    child.stderr.on('data', (d) => (errors = (errors + d).slice(-2000)));
    const timer = setTimeout(() => child.kill('SIGTERM'), limit_ms);
    const stop = () => { child.kill('SIGTERM'); setTimeout(() => process.exit(130), 500); };
    process.once('SIGINT', stop);
    process.once('SIGTERM', stop);
    child.on('close', (code) => {
      clearTimeout(timer);
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      finished({ code, output, errors });
    });
  });
}

let failures = 0;
for (const bout of bouts(size)) {
  if (only.length && !only.includes(bout.name)) continue;
  for (let round = 0; round < size.rounds; round++) {
    for (const contestant of bout.contestants) {
      if (round >= (contestant.rounds ?? size.rounds)) continue;
      const key = `${bout.name} ${contestant.label} ${contestant.workload} ${round}`;
      if (done.has(key)) continue;
      const t = Date.now();
      const { code, output, errors } = await run(contestant, await command(contestant, folder));
      const found = code === 0 ? records(contestant, output) : [];
      const seconds = ((Date.now() - t) / 1000).toFixed(0);
      if (!found.length) {
        failures++;
        said(`${key}: FAILED (${code}) after ${seconds} s: ${errors.trim().split('\n').slice(-3).join(' | ')}`);
        continue;
      }
      const common = { bout: bout.name, label: contestant.label, round, command: shown(contestant) };
      const text = found.map((record) => JSON.stringify({ ...record, ...common }) + '\n').join('');
      fs.appendFileSync(file, text + JSON.stringify({ done: key }) + '\n');
      said(`${key}: ${seconds} s: ${found.map((r) => Math.round(r.late_ms?.p99 ?? (r.rate || r.lat_ms?.p50) ?? 0)).join(' ')}`);
    }
  }
}
said(`${((Date.now() - began) / 60000).toFixed(1)} minutes${failures ? `, ${failures} parts failed: the same command tries them again` : ''}`);
process.exit(failures ? 1 : 0);
