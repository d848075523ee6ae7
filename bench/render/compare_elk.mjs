// Our layout and ELK's on the same six workflows, judged by the same rules in one run:
//   npm ci --prefix bench/render && node bench/render/compare_elk.mjs build/cairn
// ELK gets our nodes with their sizes, our links with their labels' sizes, and the options that suited it best.
// Its time is the layout alone, warm, median of 15; ours is the whole command: start, read, check, lay out, write JSON.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ELK from 'elkjs';

const here = dirname(fileURLToPath(import.meta.url));
const cairn = process.argv[2] ?? join(here, '../../build/cairn');
const runs = 15;
const options = {
  'elk.algorithm': 'layered', 'elk.direction': 'DOWN', 'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX', 'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES', 'elk.layered.feedbackEdges': 'true',
  'elk.spacing.nodeNode': '36', 'elk.layered.spacing.nodeNodeBetweenLayers': '30',
};

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

function segments(lines) {
  return lines.flatMap((points, line) => points.slice(1).map((to, i) => ({ line, from: points[i], to })));
}

// Strictly inside both: lines that share a stretch or meet at an end do not count, for either.
function crossings(lines) {
  const all = segments(lines);
  let count = 0;
  for (const a of all) {
    if (a.from.y !== a.to.y) continue;
    for (const b of all) {
      if (b.from.x !== b.to.x || a.line === b.line) continue;
      const inside = (value, p, q) => value > Math.min(p, q) && value < Math.max(p, q);
      if (inside(b.from.x, a.from.x, a.to.x) && inside(a.from.y, b.from.y, b.to.y)) ++count;
    }
  }
  return count;
}

const bends = (lines) => lines.reduce((sum, points) => sum + points.length - 2, 0);

// Sideways pixels along the steps of the root, from one to the next.
function jogs(layout, middles) {
  const path = [0, ...layout.rows.filter((row) => row.depth === 0).map((row) => row.node)];
  return Math.round(path.slice(1).reduce((sum, node, i) => sum + Math.abs(middles[node] - middles[path[i]]), 0));
}

function ours(file) {
  const times = [];
  let text = '';
  for (let i = 0; i < runs; ++i) {
    const start = performance.now();
    text = execFileSync(cairn, ['render', file, '--format', 'json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    times.push(performance.now() - start);
  }
  const layout = JSON.parse(text);
  const lines = layout.edges.map(({ points }) => points.flatMap((x, i) => (i % 2 ? [] : [{ x, y: points[i + 1] }])));
  const middles = layout.nodes.map((node) => node.x + node.width / 2);
  return { layout, row: { crossings: crossings(lines), bends: bends(lines), jogs: jogs(layout, middles),
    size: `${layout.width}x${layout.height}`, ms: median(times) } };
}

async function elks(layout) {
  const graph = () => ({
    id: 'root', layoutOptions: options,
    children: layout.nodes.map(({ width, height, shape }, i) =>
      ({ id: `n${i}`, width: shape === 'fork' || shape === 'join' ? 120 : width, height })),
    edges: layout.links.map(({ from, to, label }, i) => ({ id: `e${i}`, sources: [`n${from}`], targets: [`n${to}`],
      labels: label ? [{ text: label, width: label.length * 6.4, height: 14 }] : [] })),
  });
  const elk = new ELK();
  const times = [];
  let result;
  for (let i = 0; i < runs; ++i) {
    const start = performance.now();
    result = await elk.layout(graph());
    times.push(performance.now() - start);
  }
  const lines = result.edges.flatMap((edge) => edge.sections.map((section) =>
    [section.startPoint, ...(section.bendPoints ?? []), section.endPoint]));
  const middles = result.children.map((node) => node.x + node.width / 2);
  return { crossings: crossings(lines), bends: bends(lines), jogs: jogs(layout, middles),
    size: `${Math.round(result.width)}x${Math.round(result.height)}`, ms: median(times) };
}

console.log('workflow   nodes  layout  crossings  bends  jogs px  size        ms');
for (const name of ['linear', 'approval', 'nested', 'repeat', 'fork', 'big']) {
  const { layout, row } = ours(join(here, 'workflows', `${name}.yaml`));
  for (const [who, r] of [['cairn', row], ['elkjs', await elks(layout)]]) {
    console.log([name.padEnd(10), String(layout.nodes.length).padStart(5), ` ${who} `, String(r.crossings).padStart(9),
      String(r.bends).padStart(6), String(r.jogs).padStart(8), ` ${r.size.padEnd(10)}`, r.ms.toFixed(1).padStart(6)].join(' '));
  }
}
