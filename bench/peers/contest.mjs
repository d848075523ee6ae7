// Who runs what in one comparison. A bout is one workload; in each round its contestants run one after the other, ours
// beside theirs, so that whatever else the machine does disturbs all of them.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT, env, freshDb, r3 } from './lib/common.mjs';

export const BINARY = path.resolve(env('CAIRN', path.join(ROOT, '../../build/release/cairn')));
const BENCH = path.resolve(env('CAIRN_BENCH', path.join(path.dirname(BINARY), 'bench/cairn-bench')));

// Sizes of a full comparison (about half an hour with three rounds) and of a quick try.
export const FULL = {
  rounds: 3, ms: 3000, warm: 1000, levels: [1, 64, 256],
  w3: 5000, w4: 10000, ahead: { restate: 14000, cairn: 8000, queue: 5000 }, w5: 20000, samples: 200,
  w6: 10000, settle: 4000, idle: 10000, info: 1, pairs: 3,
};
export const QUICK = {
  rounds: 1, ms: 1000, warm: 300, levels: [1, 64],
  w3: 1000, w4: 2000, ahead: { restate: 5000, cairn: 2500, queue: 2500 }, w5: 5000, samples: 50,
  w6: 2000, settle: 1000, idle: 3000, info: 1, pairs: 1,
};

// One of the programs in this folder: prints a record a line.
const program = (label, script, workload, settings = {}) => ({ label, kind: 'program', script, workload, settings });

// `cairn-bench WORKLOAD`, in process or through HTTP. `rename` says under which name a row is recorded.
const own = (label, workload, settings = {}) => ({ label, kind: 'own', workload, settings });

export function bouts(size) {
  const loop = { MS: size.ms, WARM: size.warm, C: size.levels.join(','), REP: 1 };
  const restate = { PARTITIONS: 4, INVOKER_LIMIT: 12000, INACTIVITY_MS: 60000 };
  const levels = { outstanding: size.levels.join(','), seconds: size.ms / 1000 };
  const calls = (w) => ({
    name: w,
    contestants: [
      own('cairn, C++ client', `http-${w.toUpperCase()}`, levels),
      program('restate', 'restate', w, { ...restate, ...loop }),
      program('cairn, Node client', 'cairn', w, loop),
      own('cairn on PostgreSQL', w.toUpperCase(), { ...levels, store: 'postgres' }),
      program('dbos', 'dbos', w, loop),
    ],
  });
  const queue = { N: size.w5, SAMPLES: size.samples, MS: size.ms, WARM: size.warm, REP: 1 };
  const w5 = { seconds: size.ms / 1000, scale: size.w5 / 20000, store: 'postgres' };
  const queues = (label, script, more = {}) =>
    ['w5', 'w5one', 'w5lat'].map((w) => program(label, script, w, { ...queue, ...more }));
  // The share of a ceiling is a ratio of two short stretches: one alone is off by a tenth either way.
  const shares = { outstanding: '64,256', seconds: size.ms / 2000, repeats: size.pairs };
  const idle = { N: size.w6, SETTLE: size.settle, IDLE: size.idle };
  const late = (ahead) => ({ N: size.w4, AHEAD: ahead });
  const informing = (contestant) => ({ ...contestant, rounds: size.info });
  return [
    calls('w1'),
    calls('w2'),
    {
      name: 'w3',
      contestants: [
        own('cairn, C++ client', 'http-W3', { scale: size.w3 / 5000 }),
        program('restate', 'restate', 'w3', { ...restate, N: size.w3 }),
        program('cairn, Node client', 'cairn', 'w3', { N: size.w3 }),
      ],
    },
    {
      name: 'w4',
      contestants: [
        program('cairn, Node client', 'cairn', 'w4', late(size.ahead.cairn)),
        program('restate', 'restate', 'w4', { ...restate, ...late(size.ahead.restate) }),
        program('cairn on PostgreSQL', 'cairn', 'w4', { ...late(size.ahead.cairn), STORE: 'postgres' }),
        program('pg-boss', 'pg-boss', 'w4', late(size.ahead.queue)),
      ],
    },
    {
      name: 'w5',
      contestants: [
        own('cairn on PostgreSQL', 'W5', w5),
        ...queues('pg-boss', 'pg-boss'),
        own('cairn on PostgreSQL, no trail', 'W5', { ...w5, store_options: '?run_events=off' }),
        ...queues('graphile-worker', 'graphile-worker'),
        ...queues('cairn on PostgreSQL, Node client', 'cairn', { STORE: 'postgres' }).map(informing),
        informing(own('cairn on SQLite', 'W5', { seconds: w5.seconds, scale: w5.scale })),
        ...queues('cairn on SQLite, Node client', 'cairn').map(informing),
        ...queues('bullmq, synced every second', 'bullmq', { APPENDFSYNC: 'everysec' }).map(informing),
        ...queues('bullmq, always synced', 'bullmq', { APPENDFSYNC: 'always' }).slice(0, 2).map(informing),
      ],
    },
    {
      name: 'w6',
      contestants: [
        program('cairn, Node client', 'cairn', 'w6', idle),
        program('restate', 'restate', 'w6', { ...restate, ...idle }),
        program('cairn on PostgreSQL', 'cairn', 'w6', { ...idle, STORE: 'postgres' }),
        program('dbos', 'dbos', 'w6', idle),
      ],
    },
    {
      name: 'limits',
      contestants: [
        own('cairn', 'one-wait', shares),
        own('cairn', 'http-one-wait', { outstanding: '64,256', seconds: size.ms / 2000 }),
        own('cairn on PostgreSQL', 'one-wait', { ...shares, store: 'postgres' }),
        own('cairn on PostgreSQL', 'http-one-wait', { outstanding: '64,256', seconds: size.ms / 2000, store: 'postgres' }),
        program('dbos', 'dbos', 'one-wait', { ...loop, C: '64,256' }),
        own('cairn', 'at-rest', { seconds: size.ms / 2000 }),
      ],
    },
  ];
}

// What one contestant is, as a command line that can be repeated, with its environment.
export async function command(contestant, folder) {
  const { kind, workload, settings } = contestant;
  if (kind === 'program') {
    const { APPENDFSYNC, ...rest } = settings;
    if (APPENDFSYNC) {
      execFileSync('redis-cli', ['-u', env('REDIS_URL', 'redis://127.0.0.1:26379'), 'config', 'set', 'appendfsync', APPENDFSYNC]);
    }
    return { file: process.execPath, args: [path.join(ROOT, contestant.script, 'bench.mjs'), workload], environment: rest };
  }
  const { store, store_options = '', repeats = 1, ...rest } = settings;
  const args = [workload, '--json', '--repeats', String(repeats), '--dir', folder];
  for (const [name, value] of Object.entries(rest)) args.push(`--${name}`, String(value));
  if (store === 'postgres') args.push('--store', (await freshDb('peers_cairn')) + store_options);
  return { file: BENCH, args, environment: {} };
}

// The same in short, for people.
export function shown({ kind, script, workload, settings }) {
  if (kind === 'program') {
    const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`).join(' ');
    return `${variables} node ${script}/bench.mjs ${workload}`.trim();
  }
  const { store, store_options = '', ...rest } = settings;
  const flags = Object.entries(rest).map(([name, value]) => `--${name} ${value}`).join(' ');
  return `cairn-bench ${workload} ${flags}${store ? ` --store postgres://…${store_options}` : ''}`;
}

// The records of a contestant's output, all in one form.
export function records(contestant, output) {
  const text = output.split('\n').filter((line) => line.startsWith('{'));
  if (contestant.kind === 'program') return text.map((line) => JSON.parse(line));
  return text.flatMap((line) => JSON.parse(line).rows).map(ownRecord);
}

const W5 = { drained: 'w5', 'enqueued one at a time': 'w5one', 'from enqueued to begun, idle': 'w5lat' };

function ownRecord(row) {
  const parts = row.cpu_s_per_1000_by_process ?? {};
  const cpu = Object.keys(parts).length ? parts : { process: row.cpu_s_per_1000 };
  const workload = W5[row.variant] ?? row.workload.toLowerCase().replace(/^http-(w\d)$/, '$1');
  const mib = (bytes) => Math.round(bytes / 1048576 * 10) / 10;
  const memory = row.extra.server_memory_bytes ? { server: mib(row.extra.server_memory_bytes) } : { process: mib(row.memory_peak_bytes) };
  return {
    workload, variant: row.variant, rate: r3(row.rate), seconds: r3(row.wall_s), n: row.count,
    ...(row.outstanding > 0 && !workload.startsWith('w5') && workload !== 'w3' && { c: row.outstanding }),
    lat_ms: { p50: r3(row.p50_ms), p99: r3(row.p99_ms), max: r3(row.max_ms) },
    cpu_s: Object.fromEntries(Object.entries(cpu).map(([part, s]) => [part, (s * row.count) / 1000])),
    rss_mib: memory,
    ...(row.extra.bulk_enqueued_per_second && { bulk_rate: r3(row.extra.bulk_enqueued_per_second) }),
    ...(row.written_bytes_each && { written_each: Math.round(row.written_bytes_each) }),
    ...(row.wal_bytes_each && { wal_each: Math.round(row.wal_bytes_each), syncs_each: r3(row.syncs_each) }),
    extra: row.extra,
  };
}

// What must be the same for an interrupted comparison to continue.
export function identity(size) {
  const { size: bytes, mtimeMs } = fs.statSync(BINARY);
  return JSON.stringify({ size, binary: [bytes, mtimeMs], node: process.version, host: os.hostname() });
}
