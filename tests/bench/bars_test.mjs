// The judge of the comparison: medians, ratios and bars from made-up records, and the chart that is drawn of them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Figures, bars, median } from '../../bench/peers/bars.mjs';
import { chart } from '../../bench/peers/chart.mjs';

const loop = (label, c, rate, p50, server) => ({
  workload: 'w1', label, c, rate, seconds: 2, lat_ms: { p50, p99: 4 * p50 }, cpu_s: { server, client: 9 }, rss_mib: { server: 20 },
});

test('the median of an even number of runs lies between the middle ones', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([5, 1, 9]), 5);
});

test('a bar is reached by the ratio of the medians, not by one lucky run', () => {
  const records = [
    loop('cairn, C++ client', 64, 400, 10, 1), loop('cairn, C++ client', 64, 9000, 10, 1), loop('cairn, C++ client', 64, 410, 10, 1),
    loop('restate', 64, 100, 30, 1), loop('restate', 64, 90, 30, 1), loop('restate', 64, 110, 30, 1),
  ];
  const rows = bars(new Figures(records), [64]);
  const rate = rows.find((r) => /W1.*C\+\+.*64 outstanding$/.test(r.what) && r.unit === '/s');
  assert.equal(rate.ratio, 4.1);
  assert.equal(rate.reached, false);
  const latency = rows.find((r) => /W1.*C\+\+.*p50$/.test(r.what));
  assert.equal(latency.ratio, 1 / 3);
  assert.equal(latency.reached, true);
});

test('processor seconds are those of the server alone, for a thousand workflows', () => {
  const records = [loop('cairn, C++ client', 64, 500, 1, 2), loop('restate', 64, 500, 1, 16)];
  const row = bars(new Figures(records), [64]).find((r) => r.what.includes('CPU s of the server'));
  assert.equal(row.ours, 2);
  assert.equal(row.theirs, 16);
  assert.equal(row.reached, true);
});

test('what was not measured is neither reached nor missed', () => {
  for (const row of bars(new Figures([]), [1, 64, 256])) assert.equal(row.reached, undefined, row.what);
});

test('a queue is compared with the better of the two', () => {
  const job = (label, rate) => ({ workload: 'w5', label, rate, bulk_rate: 10, seconds: 1, cpu_s: {}, rss_mib: {} });
  const row = bars(new Figures([job('cairn on PostgreSQL', 300), job('pg-boss', 100), job('graphile-worker', 200)]), [64])
    .find((r) => r.what.includes('with the audit trail'));
  assert.equal(row.against, 'graphile-worker');
  assert.equal(row.ratio, 1.5);
  assert.equal(row.reached, true);
});

test('the chart draws what is missed in another colour and cuts what is beyond its scale', () => {
  const svg = chart('a < b', [
    { label: 'one', ratio: 0.5, bar: 2, reached: false, note: '' },
    { label: 'two', ratio: Infinity, bar: 2, reached: true, note: '' },
  ]);
  assert.match(svg, /class="short"/);
  assert.match(svg, /class="bar"/);
  assert.match(svg, /> 100×|&gt; 100×/);
  assert.doesNotMatch(svg, /NaN|Infinity/);
  assert.match(svg, /a &lt; b/);
});
