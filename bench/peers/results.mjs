// usage: node results.mjs [--quick]     out/compare.jsonl → bench/results/DATE.md, DATE.svg, the chart in the README and the table in docs/performance.md
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Figures, bars, cpu1000, median, p50, p99, rate } from './bars.mjs';
import { chart } from './chart.mjs';
import { BINARY } from './contest.mjs';
import { ROOT, env } from './lib/common.mjs';

const quick = process.argv.includes('--quick');
const file = env('COMPARISON', path.join(ROOT, 'out', quick ? 'quick.jsonl' : 'compare.jsonl'));
const lines = fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l));
const head = lines[0];
// Timers that were not all set before they fell due say nothing about lateness.
const records = lines.filter((l) => l.workload && !(l.started_before_T_ms < 0));
const name = quick ? 'quick' : head.at.slice(0, 10);
const folder = path.join(ROOT, '../results');

const grouped = (n) => n.toString().replace(/\B(?=(\d{3})+(?!\d))/g, ' ');
const number = (v) => (v === undefined || Number.isNaN(v) ? '–' : v >= 100 ? grouped(Math.round(v)) : v >= 10 ? v.toFixed(1) : v.toFixed(2));
const small = { 0.5: '½', 0.25: '¼', [1 / 3]: '⅓', 0.1: '1/10', 0.05: '1/20' };
const ratio = (v) => (v === undefined ? '–' : v < 0.005 ? '< 0.005×' : `${v >= 10 ? v.toFixed(0) : v >= 0.1 ? v.toFixed(2).replace(/0$/, '') : v.toFixed(3)}×`);
const barText = (r) => {
  if (r.absolute !== undefined) return `< ${r.absolute}${r.unit}`;
  if (r.share !== undefined || 'share' in r) return `≥ ${r.bar * 100} %`;
  return r.least ? `≥ ${r.bar}×` : `≤ ${small[r.bar] ?? r.bar}×`;
};
const verdict = (r) => (r.reached === undefined ? 'not measured' : r.reached ? 'reached' : '**not reached**');
const figures = new Figures(records);
const table = bars(figures, head.size.levels).filter((r) => !quick || r.reached !== undefined);
const cells = (r) => {
  if ('share' in r) return [r.what, r.share === undefined ? '–' : `${(r.share * 100).toFixed(0)} %`, r.against, '', barText(r), verdict(r)];
  const own = `${number(r.ours)}${r.unit}`;
  return [r.what, own, r.against && `${r.against}: ${number(r.theirs)}${r.unit}`, r.absolute === undefined ? ratio(r.ratio) : '', barText(r), verdict(r)];
};
const markdown = (heads, rows) => [`| ${heads.join(' | ')} |`, `|${heads.map((_, i) => (i ? '--:' : '---')).join('|')}|`, ...rows.map((r) => `| ${r.join(' | ')} |`)].join('\n');

// Every contestant of a workload, level by level.
function details(workload, title, columns, pick = () => true) {
  const keys = [...figures.groups.keys()].filter((k) => k.split('|')[0] === workload && pick(k));
  if (!keys.length) return '';
  keys.sort((a, b) => Number(a.split('|')[1]) - Number(b.split('|')[1]));
  const rows = keys.map((key) => {
    const [, level, label] = key.split('|'), group = figures.groups.get(key);
    return [label, ...(level ? [level] : []), ...columns.map(([, cell]) => cell(group)), group.length];
  });
  const level = keys[0].split('|')[1] ? ['outstanding'] : [];
  return `\n### ${title}\n\n${markdown(['', ...level, ...columns.map(([h]) => h), 'runs'], rows)}\n`;
}
const value = (figure) => (group) => { const v = group.map(figure).filter((x) => x !== undefined && !Number.isNaN(x)); return v.length ? number(median(v)) : '–'; };
const ranged = (figure) => (group) => {
  const v = group.map(figure).filter((x) => x !== undefined);
  return v.length ? `${number(median(v))} (${number(Math.min(...v))}–${number(Math.max(...v))})` : '–';
};
const parts = (of, unit = (r, part) => r[of][part]) => (group) =>
  Object.keys(group[0][of]).map((part) => `${part} ${number(median(group.map((r) => unit(r, part))))}`).join(', ');
const cpu = ['CPU s per 1 000', parts('cpu_s', (r, part) => cpu1000(part)(r))];
const memory = ['peak MiB', parts('rss_mib')];
const disk = ['WAL, written, syncs each', (g) => (g[0].wal_each ? `${number(median(g.map((r) => r.wal_each)) / 1024)} KiB, ${number(median(g.map((r) => r.written_each ?? 0)) / 1024)} KiB, ${number(median(g.map((r) => r.syncs_each)))}` : g[0].written_each ? `–, ${number(median(g.map((r) => r.written_each)) / 1024)} KiB, –` : '–')];
const loop = [['workflows/s', ranged(rate)], ['p50 ms', value(p50)], ['p99 ms', value(p99)], ['max ms', value((r) => r.lat_ms.max)], cpu, memory, disk];
const idle30 = ['CPU s in 30 s', parts('cpu_s', (r, part) => (r.cpu_s[part] / r.seconds) * 30)];

const versions = new Map();
for (const r of records) {
  if (r.version && !versions.has(r.label)) versions.set(r.label, `${r.label}: ${r.version}${r.settings ? `, ${JSON.stringify(r.settings)}` : ''}`);
}
const tell = (program, ...args) => { try { return execFileSync(program, args, { encoding: 'utf8' }).split('\n')[0]; } catch { return `${program}: not found`; } };
const processor = /model name\s*: (.*)/.exec(fs.readFileSync('/proc/cpuinfo', 'utf8'))?.[1] ?? 'unknown processor';
const commands = new Map(records.map((r) => [`${r.label}: ${r.command}`, r]));
const disturbed = records.filter((r) => (r.other_share ?? 0) > 0.12 && r.workload !== 'w6').length;

const text = `# Comparison of ${name}

${tell(BINARY, 'version')}, ${os.type()} ${os.release()}, ${os.cpus().length} × ${processor}, load ${head.load.toFixed(2)} when it began (${head.at.slice(0, 16).replace('T', ' ')} UTC).
Ours and the peers ran in turn on this one machine, with every commit synced, ${head.size.rounds} round${head.size.rounds > 1 ? 's' : ''}; medians, ${head.size.ms / 1000} s for each level of a closed loop
after ${head.size.warm / 1000} s to warm up. Server, worker, client and database share the processors. Ratios are what counts: rates of one machine say little about another.
${disturbed} of ${records.length} records were taken while something else used more than 12 % of the processors.

\`./dev bench --peers${quick ? ' --quick' : ''}\` repeats it.

![How many times the peers](${name}.svg)

## Bars

${markdown(['workload', 'cairn', 'peer', 'ratio', 'bar', ''], table.map(cells))}

## Everything that was measured
${details('w1', 'W1: one durable step, closed loop', loop)}${details('w2', 'W2: five durable steps, closed loop', loop)}${
  details('w3', `W3: ${head.size.w3} workflows wait for a signal, 64 signals in flight`, [['resumes/s', ranged(rate)], ['p50 ms', value(p50)], ['p99 ms', value(p99)], ['CPU s', parts('cpu_s')], memory])}${
  details('w4', `W4: ${head.size.w4} timers due at one instant`, [['p50 ms late', value((r) => r.late_ms?.p50)], ['p99 ms late', ranged((r) => r.late_ms?.p99)], ['max ms late', value((r) => r.late_ms?.max)], ['CPU s, whole run', parts('cpu_s')], memory])}${
  details('w5', `W5: ${head.size.w5} jobs put in with the bulk call, then drained`, [['bulk/s', ranged((r) => r.bulk_rate)], ['drained/s', ranged(rate)], ['CPU s', parts('cpu_s')], memory])}${
  details('w5one', 'W5: enqueued one at a time, 64 outstanding', [['jobs/s', ranged(rate)], ['p50 ms', value(p50)], ['p99 ms', value(p99)], cpu])}${
  details('w5lat', 'W5: from enqueued to begun by an idle worker', [['p50 ms', ranged(p50)], ['p99 ms', value(p99)]])}${
  details('w6', `W6: ${head.size.w6} workflows wait`, [idle30, ['MiB', parts('rss_mib')]])}${
  details('one-wait', 'One wait, in process, beside bare SQLite and bare libpq with the same rows', [['workflows/s', ranged(rate)], ['% of the ceiling', (g) => { const v = g.map((r) => r.extra.share_of_ceiling).filter(Boolean); return v.length ? number(median(v) * 100) : '–'; }], ['p50 ms', value(p50)], ['p99 ms', value(p99)], cpu, disk], (k) => k.endsWith('callbacks'))}${
  details('http-one-wait', 'One wait through HTTP', loop)}${
  details('at-rest', 'A server that nobody asks', [['start-up to ready, ms', ranged(p50)], ['MiB at rest', value((r) => r.extra.rest_memory_bytes / 1048576)], ['% of a core', value((r) => r.extra.rest_cpu_percent)]])}
W1 and W2 of "cairn on PostgreSQL" and W5, but for its Node client, are in process, as DBOS and the queues are; the rest goes through HTTP. Inputs are
empty, but for an input of 600 bytes in "one wait" and in W3 of the C++ client.

## Versions and settings

- Node ${process.version}; ${tell('postgres', '--version').includes('not found') ? tell(`${env('PGBIN', '/usr/lib/postgresql/15/bin')}/postgres`, '--version') : tell('postgres', '--version')}: fsync and synchronous_commit on, 1 GB of shared buffers, otherwise as it comes; ${tell('redis-server', '--version').split(' ').slice(0, 3).join(' ')}
${[...versions.values()].map((v) => `- ${v}`).join('\n')}
- SQLite: WAL, synchronous=FULL

## Commands

From \`bench/peers\`, with the servers of \`servers.sh\`:

\`\`\`
${[...commands.keys()].join('\n')}
\`\`\`
`;
fs.mkdirSync(folder, { recursive: true });
fs.writeFileSync(path.join(folder, `${name}.md`), text);

// For the chart lateness, latency, memory and processor count the other way round: how many times less.
const charted = table.filter((r) => r.ratio !== undefined && !('share' in r)).map((r) => ({
  label: `${short(r.what)} · ${r.against}`,
  ratio: r.least ? r.ratio : 1 / r.ratio,
  bar: r.least ? r.bar : 1 / r.bar,
  reached: r.reached,
  note: `${number(r.ours)}${r.least ? '' : ' instead of'} ${r.least ? 'against' : ''} ${number(r.theirs)}${r.unit}`.replace(/ +/g, ' '),
}));
function short(what) {
  const cuts = [[', one durable step', ''], [', five durable steps', ''], [' client and worker', ''], [' outstanding', ' at a time'],
    [', signals resume waiting workflows, HTTP', ''], [', timers due at one instant', ''], [', waiting instances', ''],
    ['from enqueued to begun, idle', 'enqueued to begun'], [', CPU s of the server per 1 000, C++ client', ': server CPU, C++'], [', in process', '']];
  return cuts.reduce((text, [from, to]) => text.replace(from, to), what);
}
fs.writeFileSync(path.join(folder, `${name}.svg`), chart('cairn beside its peers, same machine, same durability, in turn', charted));

// What people ask for first: every workload with its rates and ratios. The goals stay on the page of results.
const first = table.filter((r) => r.theirs !== undefined && !/Node client|: p50$|256 outstanding/.test(r.what));
// Its chart is in the README, and the table on the page about performance.
const marks = ['<!-- comparison: begin -->', '<!-- comparison: end -->'];
function put(file, body) {
  const target = path.join(ROOT, '../..', file);
  const page = fs.readFileSync(target, 'utf8');
  const [from, to] = marks.map((mark) => page.indexOf(mark));
  if (!quick && from >= 0 && to > from) fs.writeFileSync(target, `${page.slice(0, from)}${marks[0]}\n${body}\n${page.slice(to)}`);
}
put('README.md', `Beside other engines on the same machine, in turn, with every commit synced (\`./dev bench --peers\`):

![How many times the peers](bench/results/${name}.svg)

[Performance](docs/performance.md) has the table, and \`bench/results/${name}.md\` versions and settings.`);
put('docs/performance.md', `Beside other engines on the same machine, in turn, with every commit synced (\`./dev bench --peers\`; versions, settings and
everything else in [the results](../bench/results/${name}.md)):

![How many times the peers](../bench/results/${name}.svg)

${markdown(['workload', 'cairn', 'peer', 'ratio'], first.map((r) => cells(r).slice(0, 4))).trimEnd()}`);
const missed = table.filter((r) => r.reached === false).length;
console.log(`${table.filter((r) => r.reached).length} of ${table.length} bars reached, ${missed} not: ${path.relative(process.cwd(), path.join(folder, `${name}.md`))}`);
