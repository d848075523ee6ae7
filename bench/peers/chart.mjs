// How many times a peer's figure ours is, one bar a line, as an SVG that reads on light and on dark pages.
const escape = (text) => text.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);
const least = 0.25, most = 100; // what is beyond is cut there and says so
const times = (x) => (x > most ? `> ${most}×` : `${x >= 10 ? x.toFixed(0) : x.toFixed(x < 1 ? 2 : 1)}×`);

export function chart(title, rows) {
  const left = 380, width = 1000, top = 58, row = 24, scale_width = width - left - 240;
  const shown = rows.filter((r) => r.ratio !== undefined);
  // Twice as much is the same length everywhere: ratios from ½ to 50 all stay readable.
  const x = (ratio) => left + (Math.log(Math.min(Math.max(ratio, least), most) / least) / Math.log(most / least)) * scale_width;
  const height = top + shown.length * row + 34;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}">`,
    '<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.small{font-size:11px;fill:#59636e}.title{font-size:15px;font-weight:600}',
    '.bar{fill:#2f6f4f}.short{fill:#9a6b1f}.goal{stroke:#cf222e;stroke-width:2}.grid{stroke:#d1d9e0}.even{stroke:#59636e}',
    '@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.bar{fill:#57ab7f}.short{fill:#d4a24a}.goal{stroke:#ff7b72}.grid{stroke:#3d444d}.even{stroke:#9198a1}}</style>',
    `<text class="title" x="12" y="22">${escape(title)}</text>`,
    `<text class="small" x="12" y="40">how many times better, logarithmic; red: the bar that was set beforehand; amber: not reached</text>`,
  ];
  for (const mark of [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100]) {
    parts.push(`<line class="${mark === 1 ? 'even' : 'grid'}" x1="${x(mark).toFixed(1)}" y1="${top - 8}" x2="${x(mark).toFixed(1)}" y2="${height - 26}"/>`);
    parts.push(`<text class="small" text-anchor="middle" x="${x(mark).toFixed(1)}" y="${height - 10}">${{ 0.25: '¼', 0.5: '½' }[mark] ?? mark}×</text>`);
  }
  shown.forEach((r, i) => {
    const y = top + i * row, end = x(r.ratio);
    parts.push(`<text text-anchor="end" x="${left - 10}" y="${y + 14}">${escape(r.label)}</text>`);
    parts.push(`<rect class="${r.reached ? 'bar' : 'short'}" x="${left}" y="${y + 3}" width="${Math.max(1, end - left).toFixed(1)}" height="15" rx="2"/>`);
    parts.push(`<line class="goal" x1="${x(r.bar).toFixed(1)}" y1="${y}" x2="${x(r.bar).toFixed(1)}" y2="${y + 21}"/>`);
    parts.push(`<text x="${(Math.max(end, x(r.bar)) + 8).toFixed(1)}" y="${y + 15}">${times(r.ratio)} <tspan class="small">${escape(r.note)}</tspan></text>`);
  });
  parts.push('</svg>');
  return parts.join('\n') + '\n';
}
