// The bars of the comparison, each with what was measured. Everything is a median over the rounds.
const closed = new Set(['w1', 'w2', 'one-wait', 'http-one-wait']);

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
};

export class Figures {
  constructor(records) {
    this.groups = new Map();
    for (const record of records) {
      const level = closed.has(record.workload) ? record.c : '';
      const key = [record.workload, level, record.label, closed.has(record.workload) ? record.variant ?? '' : ''].join('|');
      (this.groups.get(key) ?? this.groups.set(key, []).get(key)).push(record);
    }
  }
  // The records of one contestant at one level.
  of(workload, label, level = '', variant = '') { return this.groups.get([workload, level, label, variant].join('|')); }
  // Undefined where nothing was measured.
  at(workload, label, level, figure, variant = '') {
    const values = this.of(workload, label, level, variant)?.map(figure).filter((v) => v !== undefined && !Number.isNaN(v));
    return values?.length ? median(values) : undefined;
  }
}

export const rate = (r) => r.rate;
export const p50 = (r) => r.lat_ms?.p50;
export const p99 = (r) => r.lat_ms?.p99;
const late = (r) => r.late_ms?.p99;
const bulk = (r) => r.bulk_rate;
export const cpu1000 = (part) => (r) => (r.cpu_s[part] === undefined ? undefined : (r.cpu_s[part] / (r.rate * r.seconds)) * 1000);
const memory = (r) => r.rss_mib.server ?? Object.values(r.rss_mib).reduce((a, b) => a + b, 0);
// The share of one core while nothing happens, of everything but the client.
const idle = (r) => (Object.entries(r.cpu_s).filter(([part]) => part !== 'client').reduce((a, [, s]) => a + s, 0) / r.seconds) * 100;

// One line of the table: `bar` is compared with ours ÷ theirs. `least`: the more the better.
function line(what, against, ours, theirs, unit, bar, least) {
  if (ours === undefined || theirs === undefined) return { what, against, ours, theirs, unit, bar, least };
  const ratio = ours / theirs;
  return { what, against, ours, theirs, unit, bar, least, ratio, reached: least ? ratio >= bar : ratio <= bar };
}
function absolute(what, ours, unit, bar) {
  return { what, against: '', ours, unit, absolute: bar, reached: ours === undefined ? undefined : ours < bar };
}
function share(what, against, value, bar) {
  return { what, against, share: value, bar, least: true, ratio: value, reached: value === undefined ? undefined : value >= bar };
}

export function bars(f, levels) {
  const rows = [];
  const steps = { w1: 'W1, one durable step', w2: 'W2, five durable steps' };
  for (const w of ['w1', 'w2']) {
    for (const client of ['C++', 'Node']) {
      const us = `cairn, ${client} client`;
      for (const c of levels) {
        const what = `${steps[w]}, HTTP, ${client} client and worker, ${c} outstanding`;
        rows.push(line(what, 'Restate', f.at(w, us, c, rate), f.at(w, 'restate', c, rate), '/s', c === 1 ? 2 : 5, true));
        if (w === 'w1' && c > 1) rows.push(line(`${what}: p50`, 'Restate', f.at(w, us, c, p50), f.at(w, 'restate', c, p50), ' ms', 1 / 2, false));
      }
    }
    for (const c of levels.filter((n) => n > 1)) {
      rows.push(line(`${steps[w]}, PostgreSQL, in process, ${c} outstanding`, 'DBOS', f.at(w, 'cairn on PostgreSQL', c, rate), f.at(w, 'dbos', c, rate), '/s', 10, true));
    }
  }
  for (const c of [64, 256]) {
    rows.push(line(`one wait, PostgreSQL, in process, ${c} outstanding`, 'DBOS', f.at('one-wait', 'cairn on PostgreSQL', c, rate, 'callbacks'), f.at('one-wait', 'dbos', c, rate), '/s', 10, true));
  }
  for (const client of ['C++', 'Node']) {
    const us = `cairn, ${client} client`;
    rows.push(line(`W3, signals resume waiting workflows, HTTP, ${client} client`, 'Restate', f.at('w3', us, '', rate), f.at('w3', 'restate', '', rate), '/s', 10, true));
    rows.push(line(`W3: p99, ${client} client`, 'Restate', f.at('w3', us, '', p99), f.at('w3', 'restate', '', p99), ' ms', 1 / 4, false));
  }
  rows.push(line('W4, timers due at one instant: p99 lateness, SQLite', 'Restate', f.at('w4', 'cairn, Node client', '', late), f.at('w4', 'restate', '', late), ' ms', 1 / 3, false));
  rows.push(line('W4: p99 lateness, PostgreSQL', 'pg-boss', f.at('w4', 'cairn on PostgreSQL', '', late), f.at('w4', 'pg-boss', '', late), ' ms', 1, false));

  // The better of the two queues, each time.
  const best = (w, figure, more) => {
    const found = ['pg-boss', 'graphile-worker'].map((name) => [name, f.at(w, name, '', figure)]).filter(([, v]) => v !== undefined);
    return found.sort((a, b) => (more ? b[1] - a[1] : a[1] - b[1]))[0] ?? ['pg-boss', undefined];
  };
  const us = 'cairn on PostgreSQL';
  const queue = (what, w, who, figure, unit, bar, more) => {
    const [name, theirs] = best(w, figure, more);
    rows.push(line(what, name, f.at(w, who, '', figure), theirs, unit, bar, more));
  };
  queue('W5, jobs drained, with the audit trail', 'w5', us, rate, '/s', 1.5, true);
  queue('W5, jobs drained, without it', 'w5', `${us}, no trail`, rate, '/s', 2.5, true);
  queue('W5, enqueued one at a time, 64 outstanding', 'w5one', us, rate, '/s', 4, true);
  queue('W5, enqueued in bulk', 'w5', us, bulk, '/s', 1.2, true);
  queue('W5, from enqueued to begun, idle: p50', 'w5lat', us, p50, ' ms', 1, false);

  const waiting = 'cairn, Node client';
  rows.push(line('W6, waiting instances: memory of the server', 'Restate', f.at('w6', waiting, '', memory), f.at('w6', 'restate', '', memory), ' MiB', 1 / 10, false));
  rows.push(line('W6: processor at rest', 'Restate', f.at('w6', waiting, '', idle), f.at('w6', 'restate', '', idle), ' % of a core', 1 / 20, false));
  rows.push(line('W6: processor at rest, PostgreSQL', 'DBOS', f.at('w6', us, '', idle), f.at('w6', 'dbos', '', idle), ' % of a core', 1 / 20, false));
  for (const c of levels.filter((n) => n > 1)) {
    rows.push(line(`W1, CPU s of the server per 1 000, C++ client, ${c} outstanding`, 'Restate', f.at('w1', 'cairn, C++ client', c, cpu1000('server')), f.at('w1', 'restate', c, cpu1000('server')), ' s', 1 / 4, false));
  }

  for (const [store, label, bare] of [['SQLite', 'cairn', 'bare SQLite, same rows'], ['PostgreSQL', us, 'bare libpq, same rows']]) {
    for (const c of [64, 256]) {
      const ceiling = f.at('ceiling', label, '', (r) => (r.c === c ? r.rate : undefined));
      const shareOf = (r) => r.extra?.share_of_ceiling;
      rows.push(share(`${store} commits, in process, ${c} outstanding`, bare, f.at('one-wait', label, c, shareOf, 'callbacks'), 0.6));
      const http = f.at('http-one-wait', label, c, rate);
      rows.push(share(`${store} commits, through HTTP, ${c} outstanding`, bare, http && ceiling ? http / ceiling : undefined, 0.4));
    }
  }
  const rest = (r) => (r.extra?.rest_memory_bytes ?? NaN) / 1048576;
  rows.push(absolute('server at rest: memory', f.at('at-rest', 'cairn', '', rest), ' MiB', 30));
  rows.push(absolute('server: start-up to ready', f.at('at-rest', 'cairn', '', p50), ' ms', 200));
  return rows;
}
