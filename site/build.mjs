// Builds the documentation as a static site: node site/build.mjs --out FOLDER [--quiet]
// Every page of docs/ becomes HTML, with its Markdown beside it, a search, and llms.txt. docs/README.md is the front page, and its lists
// are the navigation. The site makes no request to another host. A link to a missing page, file or anchor fails the build, and so does a
// page that docs/README.md does not list. Without other packages than Node's own.
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, normalize, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { escape, plain, render } from './markdown.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..');
const also = { 'CONTRIBUTING.md': 'contributing', 'CHANGELOG.md': 'changelog', 'SECURITY.md': 'reporting-vulnerabilities', 'CODE_OF_CONDUCT.md': 'code-of-conduct',
  'examples/README.md': 'examples' };

const walk = (folder) => readdirSync(folder).sort().flatMap((name) => (statSync(join(folder, name)).isDirectory() ? walk(join(folder, name)) : [join(folder, name)]));

// The pages by their place in the repository: {path, name (without an ending), text}.
export function read_pages(from = root) {
  const pages = new Map();
  for (const full of walk(join(from, 'docs'))) {
    if (!full.endsWith('.md')) continue;
    const path = relative(from, full);
    pages.set(path, { path, name: path.slice('docs/'.length, -'.md'.length).replace(/(^|\/)README$/, '$1index'), text: readFileSync(full, 'utf8') });
  }
  for (const [path, name] of Object.entries(also)) {
    if (existsSync(join(from, path))) pages.set(path, { path, name, text: readFileSync(join(from, path), 'utf8') });
  }
  return pages;
}

// The sections of docs/README.md with the pages that they list: [{title, pages: [{path, words, group}]}].
export function read_sections(pages) {
  const sections = [];
  let group = '';
  for (const line of pages.get('docs/README.md').text.split('\n')) {
    const heading = /^(##|###) (.*)$/.exec(line);
    if (heading?.[1] === '##') sections.push({ title: heading[2], pages: [] }), group = '';
    else if (heading) group = heading[2];
    else if (sections.length) {
      for (const [, words, target] of line.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)) {
        const path = normalize(join('docs', target));
        if (!sections.some((section) => section.pages.some((page) => page.path === path))) sections.at(-1).pages.push({ path, words: plain(words), group });
      }
    }
  }
  return sections.filter((section) => section.pages.length);
}

// Without pages whose path matches `without`, and without links to them.
export function build({ out, from = root, without = null }) {
  const wrong = [];
  const pages = read_pages(from), sections = read_sections(pages);
  const left_out = new Set([...pages.keys()].filter((path) => without?.test(path)));
  for (const path of left_out) pages.delete(path);
  for (const section of sections) section.pages = section.pages.filter(({ path }) => !left_out.has(path));
  const listed = sections.flatMap((section) => section.pages.map((page) => ({ ...page, section: section.title })));
  for (const { path, words } of listed) if (!pages.has(path)) wrong.push(`docs/README.md: "${words}" leads to ${path}, which does not exist`);
  for (const page of pages.values()) {
    const place = listed.find(({ path }) => path === page.path);
    page.section = place?.section ?? (page.path === 'docs/README.md' ? 'Start' : '');
    if (!page.section && !/^docs\/adr\//.test(page.path)) wrong.push(`${page.path}: docs/README.md does not list this page`);
    page.title = plain(/^# (.*)$/m.exec(page.text)?.[1] ?? page.name);
  }

  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const files = new Set();
  const up = (page) => '../'.repeat(page.name.split('/').length - 1);
  const links = [];  // {page, target, path, anchor}

  for (const page of pages.values()) {
    const address = (target, picture) => {
      if (/^(https?:|mailto:)/.test(target)) {
        if (picture) wrong.push(`${page.path}: the picture ${target} is on another host`);
        return target;
      }
      const [place, anchor] = target.split('#');
      const path = place ? normalize(join(dirname(page.path), place)) : page.path;
      if (pages.has(path)) {
        links.push({ page, target, path, anchor });
        const other = pages.get(path);
        return path === page.path && anchor ? `#${anchor}` : `${posix.relative(posix.dirname(page.name), other.name) || posix.basename(other.name)}.html${anchor ? `#${anchor}` : ''}`;
      }
      const full = join(from, path);
      if (left_out.has(path)) return '';
      if (!existsSync(full)) {
        wrong.push(`${page.path}: the link to ${target} leads nowhere`);
        return '';
      }
      if (statSync(full).isDirectory()) return '';
      files.add(path);
      return up(page) + (path.startsWith('docs/') ? path.slice('docs/'.length) : `files/${path}`);
    };
    Object.assign(page, render(page.text, { on_link: (target) => address(target, false), on_picture: (target) => address(target, true) }));
  }
  for (const { page, target, path, anchor } of links) {
    if (anchor && !pages.get(path).headings.some(({ id }) => id === anchor)) wrong.push(`${page.path}: ${target} names a heading that does not exist`);
  }

  const navigation = (page) => sections.map((section) => {
    let group = '';
    const items = section.pages.filter(({ path }) => pages.has(path)).map(({ path, words, group: own }) => {
      const other = pages.get(path);
      const title = own !== group ? `<li><strong>${escape(group = own)}</strong></li>` : '';
      return `${title}<li><a href="${up(page)}${other.name}.html"${other === page ? ' aria-current="page"' : ''}>${escape(words)}</a></li>`;
    });
    return `<details${section.title === page.section || page.section === 'Start' ? ' open' : ''}><summary>${escape(section.title)}</summary><ul>${items.join('')}</ul></details>`;
  }).join('\n');

  const search = [];
  for (const page of pages.values()) {
    const at = listed.findIndex(({ path }) => path === page.path);
    const [before, after] = at < 0 ? [] : [listed[at - 1], listed[at + 1]].map((one) => (one?.section === page.section && pages.has(one.path) ? one : null));
    const turn = (one, label) => (one ? `<a href="${up(page)}${pages.get(one.path).name}.html">${label} ${escape(one.words)}</a>` : '<span></span>');
    const contents = page.headings.filter(({ level }) => level === 2 || level === 3);
    const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(page.title)}${page.name === 'index' ? '' : ' · cairn'}</title>
<link rel="icon" href="${up(page)}logo.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up(page)}site.css">
<link rel="alternate" type="text/markdown" href="${posix.basename(page.name)}.md">
<script src="${up(page)}theme.js"></script>
<script src="${up(page)}site.js"></script>
</head>
<body>
<a class="skip" href="#text">To the text</a>
<header><a href="${up(page)}index.html">cairn</a>
<div class="search" role="search"><input id="search" type="search" placeholder="Search ( / )" aria-label="Search the documentation" autocomplete="off"><ul id="found" class="found" hidden></ul></div>
<button id="theme" type="button" aria-label="Switch between light and dark">◐</button></header>
<div class="columns">
<nav class="pages" aria-label="Pages">
${navigation(page)}
</nav>
<main id="text">
${page.html}${before || after ? `<div class="turn">${turn(before, '←')}${turn(after, '→')}</div>\n` : ''}</main>
<nav class="contents" aria-label="On this page">${contents.length > 1 ? `<p>On this page</p><ul>${contents.map(({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escape(text)}</a></li>`).join('')}</ul>` : ''}</nav>
</div>
</body>
</html>
`;
    const file = join(out, `${page.name}.html`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, html);
    writeFileSync(join(out, `${page.name}.md`), page.text);
    search.push(...entries_of(page));
  }
  for (const path of files) {
    const file = join(out, path.startsWith('docs/') ? path.slice('docs/'.length) : `files/${path}`);
    mkdirSync(dirname(file), { recursive: true });
    cpSync(join(from, path), file);
  }
  for (const name of ['site.css', 'theme.js']) cpSync(join(here, name), join(out, name));
  // One script for browsers: the search is a module for its test.
  const search_function = readFileSync(join(here, 'find.js'), 'utf8').replace('export function', 'function');
  writeFileSync(join(out, 'site.js'), readFileSync(join(here, 'site.js'), 'utf8').replace('(() => {\n', () => `(() => {\n${search_function}\n`));
  cpSync(join(root, 'console/src/logo.svg'), join(out, 'logo.svg'));
  writeFileSync(join(out, 'search.js'), `window.pages = ${JSON.stringify(search)};\n`);
  writeFileSync(join(out, 'llms.txt'), llms(pages, sections));
  const foreign = foreign_requests(out);
  wrong.push(...foreign);
  return { pages: pages.size, files: files.size, wrong, digest: createHash('sha256').update(JSON.stringify(search)).digest('hex').slice(0, 12) };
}

// What the search knows of a page: its beginning, and each section with its first words.
function entries_of(page) {
  const parts = page.text.replace(/^```[\s\S]*?^```/gm, (block) => block.replace(/^#/gm, ' ')).replace(/<!--[\s\S]*?-->/g, '').split(/^(?=#{1,3} )/m);
  let heading_at = 0;
  const long = /^docs\/(adr\/|requirements|simulation|testing|bench)|CHANGELOG/.test(page.path);
  return parts.filter((part) => part.startsWith('#')).map((part) => {
    const [line, ...rest] = part.split('\n');
    const heading = plain(line.replace(/^#+ /, ''));
    while (heading_at < page.headings.length && page.headings[heading_at].text !== heading) ++heading_at;
    const id = page.headings[heading_at]?.id;
    const text = plain(rest.filter((one) => !/^[\s|:-]+$/.test(one)).join(' ').replace(/[|`*#>]/g, ' ').replace(/\s+/g, ' ')).trim();
    return [`${page.name}.html${id && heading !== page.title ? `#${id}` : ''}`, page.title, heading, text.slice(0, long ? 160 : 700), page.section];
  });
}

// For readers that are programs (llmstxt.org): what this is, and where the Markdown of each page is.
function llms(pages, sections) {
  const front = pages.get('docs/README.md');
  const summary = plain(front.text.split('\n\n').find((part) => !part.startsWith('#')) ?? '').replace(/\s+/g, ' ');
  const first = (page) => plain((page.text.replace(/^#.*\n/, '').split('\n\n').find((part) => /^[A-Z`[]/.test(part.trim())) ?? '').replace(/\s+/g, ' ')).split(/(?<=[.!?]) /)[0];
  return `# ${front.title}\n\n> ${summary}\n\n${sections.map((section) => `## ${section.title}\n\n${section.pages.filter(({ path }) => pages.has(path))
    .map(({ path, words }) => `- [${words}](${pages.get(path).name}.md): ${first(pages.get(path)).trim()}`).join('\n')}`).join('\n\n')}\n`;
}

// A page may link to other hosts, but it loads nothing from them.
function foreign_requests(out) {
  return walk(out).filter((file) => /\.(html|css)$/.test(file) && !file.includes('/files/')).flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/<pre[\s\S]*?<\/pre>/g, '').replace(/<code>[\s\S]*?<\/code>/g, '');
    return [...text.matchAll(/(?:src|srcset)="(?:https?:)?\/\/[^"]*"|<link[^>]*href="(?:https?:)?\/\/[^"]*"|url\((?!data:)[^)]*\/\/[^)]*\)|@import/g)].map((one) => `${relative(out, file)}: loads from another host: ${one[0]}`);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const value = (name, fallback) => { const at = process.argv.indexOf(name); return at < 0 ? fallback : process.argv[at + 1]; };
  const out = resolve(value('--out', join(root, 'build/site')));
  const { pages, files, wrong } = build({ out, from: resolve(value('--from', root)) });
  for (const one of wrong) console.error(one);
  if (!process.argv.includes('--quiet') || wrong.length) console.log(`${pages} pages and ${files} files in ${relative(process.cwd(), out) || out}, ${wrong.length} problems`);
  process.exit(wrong.length ? 1 : 0);
}
