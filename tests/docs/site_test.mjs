// node site_test.mjs: the site builds from docs/ without a broken link, loads nothing from another host, and its search finds the answers of
// docs/questions.md. Faults that are planted in a copy are found.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../site/build.mjs';
import { find } from '../../site/find.js';
import { render, slug } from '../../site/markdown.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const folder = mkdtempSync(join(tmpdir(), 'cairn-site-'));
const wrong = [];
const expect = (ok, what) => { if (!ok) wrong.push(what); };

try {
  // Markdown.
  const html = (text) => render(text).html.trim();
  assert.equal(slug('`set`: assign *business* state, 2×'), 'set-assign-business-state-2');
  assert.equal(html('a `<b>` **c** *d* \\* x_y_z'), '<p>a <code>&lt;b&gt;</code> <strong>c</strong> <em>d</em> * x_y_z</p>');
  assert.match(html('| a | b |\n| --- | ---: |\n| `x | y` | 2 \\| 3 |'), /<td><code>x \| y<\/code><\/td><td class="right">2 \| 3<\/td>/);
  assert.match(html('- a\n  b\n- c\n\n  d\n  - e'), /<ul>\n<li>a\nb<\/li>\n<li><p>c<\/p>\n<p>d<\/p>\n<ul>\n<li>e<\/li>\n<\/ul><\/li>\n<\/ul>/);
  assert.match(html('1. a\n\n   ```sh x.sh\n   echo\n   ```\n2. b'), /<ol>\n<li>[\s\S]*<figcaption>x.sh<\/figcaption>[\s\S]*<li>b<\/li>\n<\/ol>/);
  assert.equal(html('[a](javascript:alert(1))').includes('href="javascript'), false);

  // The site of this tree.
  const site = join(folder, 'site');
  const made = build({ out: site });
  wrong.push(...made.wrong);
  expect(made.pages > 100, `only ${made.pages} pages`);
  const front = readFileSync(join(site, 'index.html'), 'utf8');
  expect(!/<script(?![^>]*src=)|<style| style=| on[a-z]+=/.test(front), 'a page has a script or a style of its own');
  for (const name of ['site.js', 'theme.js', 'search.js']) new Function(readFileSync(join(site, name), 'utf8'));  // it can be read as a script
  const llms = readFileSync(join(site, 'llms.txt'), 'utf8');
  expect(llms.startsWith('# ') && (llms.match(/^- \[/gm) ?? []).length > 90, 'llms.txt lists too few pages');

  // What readers search for is among the first five results.
  const entries = new Function('window', `${readFileSync(join(site, 'search.js'), 'utf8')}; return window.pages;`)({});
  let asked = 0;
  for (const [, , target, words] of readFileSync(join(root, 'docs/questions.md'), 'utf8').matchAll(/^\| ([^|]+\?) \| \[[^\]]+\]\(([^)]+)\) \| ([^|]+) \|$/gm)) {
    const [path] = target.split('#');
    const page = path === '../SECURITY.md' ? 'reporting-vulnerabilities.html' : path.replace('.md', '.html');
    const found = [...new Set(find(entries, words).map(({ address }) => address.split('#')[0]))].slice(0, 5);
    expect(found.includes(page), `the search for "${words}" finds ${found.join(', ')}, but not ${page}`);
    ++asked;
  }
  expect(asked === 30, `docs/questions.md has ${asked} questions`);

  // Without some pages, as in the program: nothing leads to them.
  const part = join(folder, 'part');
  const less = build({ out: part, without: /^docs\/adr\/|^CHANGELOG/ });
  wrong.push(...less.wrong);
  expect(less.pages < made.pages && !existsSync(join(part, 'changelog.html')) && !readFileSync(join(part, 'index.html'), 'utf8').includes('changelog.html'), 'a page is not left out');

  // Planted faults.
  const small = join(folder, 'small');
  mkdirSync(join(small, 'docs'), { recursive: true });
  writeFileSync(join(small, 'docs/README.md'), '# T\n\nText.\n\n## S\n\n- [A](a.md)\n- [B](b.md)\n');
  writeFileSync(join(small, 'docs/a.md'), '# A\n\n[x](gone.md) [y](#no) ![z](https://example.com/z.png)\n');
  writeFileSync(join(small, 'docs/c.md'), '# C\n');
  const faults = build({ out: join(folder, 'out'), from: small }).wrong.join('\n');
  for (const one of ['gone.md leads nowhere', '#no names a heading', 'https://example.com/z.png is on another host', 'docs/b.md, which does not exist', 'docs/c.md: docs/README.md does not list']) {
    expect(faults.includes(one), `a planted fault was not found: ${one}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
for (const one of wrong) console.log(one);
console.log(`${wrong.length} problems`);
process.exit(wrong.length ? 1 : 0);
