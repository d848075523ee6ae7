// Builds the console: node build.mjs --out DIR [--quiet]
// OUT gets hashed files under assets/, index.html, the documentation under help/, a gzip copy beside each file, and manifest.json for the server.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build as build_site } from '../site/build.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const argument = (name, fallback) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : process.argv[at + 1];
};
const out = resolve(argument('--out', join(here, 'dist')));
const first_load_max = 60 * 1024;
const everything_max = 300 * 1024;

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, 'assets'), { recursive: true });

const common = { bundle: true, minify: true, metafile: true, legalComments: 'none', absWorkingDir: here, outdir: out, logLevel: 'warning' };
// One common file for all pages: each page imports src/common.ts, see there.
const with_common = {
  name: 'common',
  setup(build) {
    build.onLoad({ filter: /\/src\/pages\/[a-z_]+\.tsx$/ }, ({ path }) => ({ contents: `import '../common';\n${readFileSync(path, 'utf8')}`, loader: 'tsx' }));
  },
};
const styles = await build({ ...common, entryPoints: { console: 'src/styles/console.css' }, target: 'esnext', entryNames: 'assets/[name]-[hash]' });
// The elements for other pages have the style and the icons inside: they live in shadow roots.
const symbols_of = () => {
  const found = {};
  for (const [, id, inner] of readFileSync(join(here, 'src/icons.svg'), 'utf8').matchAll(/<symbol id="([^"]+)"[^>]*>(.*?)<\/symbol>/gs)) {
    found[id] = [...inner.matchAll(/<([a-z]+)((?:\s+[\w-]+="[^"]*")*)\s*\/>/g)].map(([, tag, rest]) => [tag, Object.fromEntries([...rest.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]))]);
  }
  return found;
};
const parts = {
  name: 'parts',
  setup(build) {
    build.onResolve({ filter: /^embed:parts$/ }, () => ({ path: 'parts', namespace: 'embed' }));
    build.onLoad({ filter: /.*/, namespace: 'embed' }, () => {
      const file = Object.keys(styles.metafile.outputs).find((path) => path.endsWith('.css'));
      const style = readFileSync(resolve(here, file), 'utf8').replace(/:root\[data-theme="?(light|dark)"?\]/g, ':host([theme=$1])').replaceAll(':root', ':host');
      return { contents: `export const style = ${JSON.stringify(style)}; export const icons = ${JSON.stringify(symbols_of())};`, loader: 'js' };
    });
  },
};
const scripts = await build({
  ...common,
  plugins: [with_common, parts],
  entryPoints: { console: 'src/main.tsx', elements: 'src/embed/main.ts' },
  format: 'esm',
  splitting: true,
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  entryNames: 'assets/[name]-[hash]',
  chunkNames: 'assets/[name]-[hash]',
});


const outputs = scripts.metafile.outputs;
const name_of = (path) => relative(out, resolve(here, path));
const entry = Object.keys(outputs).find((path) => outputs[path].entryPoint === 'src/main.tsx');
const style = Object.keys(styles.metafile.outputs).find((path) => path.endsWith('.css'));

// A chunk and everything that it imports at once.
const closure = (path, found = new Set()) => {
  if (found.has(path)) return found;
  found.add(path);
  for (const one of outputs[path].imports) if (one.kind === 'import-statement') closure(one.path, found);
  return found;
};

const logo = readFileSync(join(here, 'src/logo.svg'));
const logo_name = `assets/logo-${createHash('sha256').update(logo).digest('hex').slice(0, 8)}.svg`;
writeFileSync(join(out, logo_name), logo);

const preloads = [...closure(entry)].filter((path) => path !== entry).map((path) => `<link rel="modulepreload" href="/${name_of(path)}">`);
const symbols = readFileSync(join(here, 'src/icons.svg'), 'utf8').replace(/^<svg[^>]*>/, '<svg class="sprite" aria-hidden="true">').replaceAll('\n', '');
const page = readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace('<!--logo-->', `<link rel="icon" href="/${logo_name}" type="image/svg+xml">`)
  .replace('<!--style-->', `<link rel="stylesheet" href="/${name_of(style)}">`)
  .replace('<!--script-->', [`<script type="module" src="/${name_of(entry)}"></script>`, ...preloads].join('\n'))
  .replace('<!--icons-->', symbols);
writeFileSync(join(out, 'index.html'), page);

// Other pages name this file, so its name stays.
const elements = Object.keys(outputs).find((path) => outputs[path].entryPoint === 'src/embed/main.ts');
writeFileSync(join(out, 'embed.js'), `import './${name_of(elements)}';\n`);

// The licences of what is in the bundle.
const packages = new Set();
for (const path of Object.keys(scripts.metafile.inputs)) {
  const match = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path);
  if (match) packages.add(match[1]);
}
const notices = [...packages].sort().map((name) => {
  const folder = join(here, 'node_modules', name);
  const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  return `${about.name} ${about.version} (${about.license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
});
writeFileSync(join(out, 'licenses.txt'), notices.join(`\n${'-'.repeat(72)}\n\n`));

// The pages that `cairn help` and the console show. Those about the source are on the site only.
const help = build_site({ out: join(out, 'help'), without: /^docs\/(adr|requirements|simulation|adding-a-store|dependencies|performance|scale|architecture)\b|^CHANGELOG|^CONTRIBUTING|^CODE_OF/ });
for (const one of help.wrong) console.error(one);
if (help.wrong.length) process.exit(1);

const types = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8', '.md': 'text/markdown; charset=utf-8', '.png': 'image/png' };
const sizes = {};
const files = [];
const walk = (folder) => readdirSync(folder).sort().flatMap((name) => (statSync(join(folder, name)).isDirectory() ? walk(join(folder, name)) : [join(folder, name)]));
for (const full of walk(out)) {
  const path = relative(out, full);
  const bytes = readFileSync(full);
  const packed = gzipSync(bytes, { level: 9 });
  writeFileSync(`${full}.gz`, packed);
  sizes[path] = packed.length;
  files.push({
    path: `/${path}`,
    type: types[extname(path)] ?? 'application/octet-stream',
    gzip: `${path}.gz`,
    etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
    bytes: bytes.length,
    gzip_bytes: packed.length,
    immutable: path.startsWith('assets/'),
  });
}
writeFileSync(join(out, 'manifest.json'), `${JSON.stringify({ index: '/index.html', files }, null, 2)}\n`);

// Budgets. The first load is what the home page needs: the entry, the page, their imports and the style sheet.
const home = Object.keys(outputs).find((path) => outputs[path].entryPoint === 'src/pages/home.tsx');
const first = [...new Set([...closure(entry), ...(home ? closure(home) : [])])].map(name_of).concat(name_of(style));
const sum = (names) => names.reduce((total, name) => total + sizes[name], 0);
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
const first_load = sum(first);
const everything = sum(Object.keys(sizes).filter((name) => /\.(js|css)$/.test(name) && !name.startsWith('help/')));
const quiet = process.argv.includes('--quiet');
if (!quiet) for (const [path, info] of Object.entries(outputs).sort((a, b) => sizes[name_of(b[0])] - sizes[name_of(a[0])])) {
  console.log(`${kb(sizes[name_of(path)]).padStart(9)}  ${name_of(path)}${info.entryPoint ? `  ${info.entryPoint}` : ''}`);
}
if (!quiet) console.log(`${kb(sizes[name_of(style)]).padStart(9)}  ${name_of(style)}`);
if (!quiet) console.log(`first load ${kb(first_load)} of ${kb(first_load_max)}, everything ${kb(everything)} of ${kb(everything_max)} (gzip)`);
if (first_load > first_load_max || everything > everything_max) {
  console.error('console: a size budget is exceeded');
  process.exit(1);
}
