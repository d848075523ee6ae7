// The Markdown of the documentation as HTML: headings, paragraphs, lists, tables, code, quotes, pictures and links. It takes the same
// subset as GitHub does, with the same anchors. `render` calls `on_link(target)` for each link and uses the address that it returns;
// without one only the text of the link is left.
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
export const escape = (text) => text.replace(/[&<>"]/g, (one) => escapes[one]);

// The anchor of a heading, as GitHub makes it.
export function slug(heading) {
  return plain(heading).trim().toLowerCase().replace(/[^\p{L}\p{N}\p{M}_\- ]/gu, '').replaceAll(' ', '-');
}

// Inline Markdown as the words that a reader sees.
export function plain(text) {
  return text.replace(/!\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/(`+)(.*?)\1/g, '$2')
    .replace(/\*\*(.+?)\*\*/g, '$1').replace(/\*([^*\s][^*]*)\*/g, '$1').replace(/\\([\\`*_{}[\]()#+.!|<>~-])/g, '$1');
}

function inline(text, page) {
  const kept = [];
  const keep = (html) => `\u0001${kept.push(html) - 1}\u0002`;
  text = text.replace(/(`+)(.+?)\1/g, (_, marks, code) => keep(`<code>${escape(code.replace(/^ (.*) $/, '$1'))}</code>`));
  text = text.replace(/\\([\\`*_{}[\]()#+.!|<>~-])/g, (_, one) => keep(escape(one)));
  text = text.replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, (_, alt, target) =>
    keep(`<img src="${escape(page.on_picture(target))}" alt="${escape(plain(alt))}" loading="lazy">`));
  text = text.replace(/<(https?:\/\/[^>\s]+)>/g, (_, target) => keep(`<a href="${escape(target)}">${escape(target)}</a>`));
  // Links may have code and pictures in their text, which are kept already.
  text = text.replace(/\[([^\]]*)\]\(([^)\s]*)\)/g, (_, words, target) => {
    const address = /^(?!https?:|mailto:)[a-z]+:/i.test(target) ? '' : page.on_link(target);
    const inner = emphasis(escape(words));
    return keep(address ? `<a href="${escape(address)}">${inner}</a>` : inner);
  });
  text = emphasis(escape(text));
  while (/\u0001\d+\u0002/.test(text)) text = text.replace(/\u0001(\d+)\u0002/g, (_, at) => kept[at]);
  return text;
}

const emphasis = (text) => text.replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>').replace(/(^|[^*\w])\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)/g, '$1<em>$2</em>');

// A little colour: comments, texts, keys, variables and the prompt.
function highlight(code, kind) {
  const mark = (name, text) => `<span class="${name}">${escape(text)}</span>`;
  const rules = {
    yaml: /(?<note>(?:^|(?<=\s))#.*)|(?<text>"(?:\\.|[^"\\\n])*"|'(?:''|[^'\n])*')|(?<key>(?<=^|[\s{,-])[\w.$-]+(?=:(?:\s|$)))/gm,
    json: /(?<key>"(?:\\.|[^"\\\n])*"(?=\s*:))|(?<text>"(?:\\.|[^"\\\n])*")/gm,
    toml: /(?<note>#.*)|(?<text>"(?:\\.|[^"\\\n])*"|'[^'\n]*')|(?<key>^\[.*\]$|^[\w.]+(?=\s*=))/gm,
    console: /(?<prompt>^\$ .*(?:\\\n.*)*)/gm,
    sh: /(?<note>(?:^|(?<=\s))#.*)|(?<text>'[^']*'|"(?:\\.|[^"\\])*")/gm,
    sql: /(?<note>--.*)|(?<text>'[^'\n]*')/gm,
    python: /(?<note>#.*)|(?<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<key>\b(?:from|import|def|return|class|if|else|for|in|while|with|as|raise|try|except)\b)/gm,
    cpp: /(?<note>\/\/.*)|(?<text>"(?:\\.|[^"\\\n])*")|(?<key>\b(?:return|auto|const|using|namespace|struct|class|if|else|for|include)\b)/gm,
    js: /(?<note>\/\/.*)|(?<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<key>\b(?:import|from|const|await|async|return|new|if|else|for|of|function|throw)\b)/gm,
  };
  const rule = rules[{ bash: 'sh', yml: 'yaml', mjs: 'js', ts: 'js', typescript: 'js', javascript: 'js' }[kind] ?? kind];
  if (!rule) return escape(code);
  let html = '', at = 0;
  for (const found of code.matchAll(rule)) {
    const [name] = Object.entries(found.groups).find(([, text]) => text !== undefined);
    html += escape(code.slice(at, found.index)) + mark(`c-${name}`, found[0]);
    at = found.index + found[0].length;
  }
  return html + escape(code.slice(at));
}

function code_block(code, info) {
  const [kind = '', file = ''] = info.trim().split(/\s+/);
  const label = file ? `<figcaption>${escape(file)}</figcaption>` : '';
  // The comment that names the file elsewhere is its caption here.
  if (file && ['#', '//', '--'].some((mark) => code.startsWith(`${mark} ${file}\n`))) code = code.slice(code.indexOf('\n') + 1);
  return `<figure class="code">${label}<pre tabindex="0"><code>${highlight(code, kind)}</code></pre></figure>\n`;
}

// The cells of one row of a table.
function cells(line) {
  const parts = [];
  let cell = '', code = false;
  const row = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  for (let at = 0; at < row.length; ++at) {
    if (row[at] === '\\' && row[at + 1] === '|') cell += '|', ++at;
    else if (row[at] === '`') code = !code, cell += '`';
    else if (row[at] === '|' && !code) parts.push(cell.trim()), cell = '';
    else cell += row[at];
  }
  return [...parts, cell.trim()];
}

const item_start = /^(\s*)([-*+]|\d+[.)])(\s+)(.*)$/;

function blocks(lines, page) {
  let html = '', at = 0;
  const indent_of = (line) => line.length - line.trimStart().length;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) { ++at; continue; }
    const fence = /^(\s*)(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (fence) {
      const body = [];
      for (++at; at < lines.length && !lines[at].trim().startsWith(fence[2]); ++at) body.push(lines[at].startsWith(fence[1]) ? lines[at].slice(fence[1].length) : lines[at].trimStart());
      ++at;
      html += code_block(body.join('\n'), fence[3]);
      continue;
    }
    if (line.trimStart().startsWith('<!--')) {
      while (at < lines.length && !lines[at].includes('-->')) ++at;
      ++at;
      continue;
    }
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (heading) {
      const level = heading[1].length;
      let id = slug(heading[2]);
      const seen = page.anchors.get(id) ?? 0;
      page.anchors.set(id, seen + 1);
      if (seen) id += `-${seen}`;
      page.headings.push({ level, id, text: plain(heading[2]) });
      html += `<h${level} id="${id}">${inline(heading[2], page)}${level > 1 ? `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>` : ''}</h${level}>\n`;
      ++at;
      continue;
    }
    if (/^\s*\|/.test(line) && /^\s*\|?[\s:|-]*-[\s:|-]*$/.test(lines[at + 1] ?? '')) {
      const aligned = cells(lines[at + 1]).map((cell) => (/^-+:$/.test(cell) ? ' class="right"' : ''));
      const row = (text, tag) => `<tr>${cells(text).map((cell, n) => `<${tag}${aligned[n] ?? ''}>${inline(cell, page)}</${tag}>`).join('')}</tr>`;
      html += `<div class="table" tabindex="0"><table><thead>${row(line, 'th')}</thead><tbody>\n`;
      for (at += 2; at < lines.length && /^\s*\|/.test(lines[at]); ++at) html += `${row(lines[at], 'td')}\n`;
      html += '</tbody></table></div>\n';
      continue;
    }
    if (line.startsWith('>')) {
      const quoted = [];
      for (; at < lines.length && lines[at].startsWith('>'); ++at) quoted.push(lines[at].replace(/^> ?/, ''));
      html += `<blockquote>${blocks(quoted, page)}</blockquote>\n`;
      continue;
    }
    const item = item_start.exec(line);
    if (item) {
      const tag = /\d/.test(item[2]) ? 'ol' : 'ul', base = item[1].length;
      html += `<${tag}>\n`;
      while (at < lines.length) {
        const next = item_start.exec(lines[at]);
        if (!next || next[1].length !== base || /\d/.test(next[2]) !== (tag === 'ol')) break;
        const width = base + next[2].length + next[3].length;
        const inside = [next[4]];
        let loose = false;
        for (++at; at < lines.length; ++at) {
          if (!lines[at].trim()) {
            const after = lines.slice(at).find((one) => one.trim());
            if (after === undefined || (indent_of(after) < width && !(item_start.exec(after)?.[1].length === base))) break;
            if (indent_of(after) < width) break;
            loose = true;
            inside.push('');
          } else if (indent_of(lines[at]) >= Math.min(width, base + 2)) inside.push(lines[at].slice(Math.min(indent_of(lines[at]), width)));
          else if (item_start.test(lines[at]) || /^(#|\||```|>)/.test(lines[at].trimStart())) break;
          else inside.push(lines[at].trim());
        }
        let body = blocks(inside, page);
        if (!loose) body = body.replace(/^<p>([\s\S]*?)<\/p>\n/, '$1\n');
        html += `<li>${body.trim()}</li>\n`;
        let skip = at;
        while (skip < lines.length && !lines[skip].trim()) ++skip;
        if (item_start.exec(lines[skip] ?? '')?.[1].length === base) at = skip;
      }
      html += `</${tag}>\n`;
      continue;
    }
    if (/^ {4}/.test(line)) {
      const body = [];
      for (; at < lines.length && (/^ {4}/.test(lines[at]) || (!lines[at].trim() && /^ {4}/.test(lines[at + 1] ?? ''))); ++at) body.push(lines[at].slice(4));
      html += code_block(body.join('\n').trimEnd(), '');
      continue;
    }
    if (/^(-{3,}|\*{3,})$/.test(line.trim())) { html += '<hr>\n'; ++at; continue; }
    const words = [];
    for (; at < lines.length && lines[at].trim(); ++at) {
      if (words.length && (/^(#{1,6} |```|~~~|>)/.test(lines[at].trimStart()) || item_start.test(lines[at]) || /^\s*\|.*\|/.test(lines[at]))) break;
      words.push(lines[at].trim());
    }
    html += `<p>${inline(words.join('\n'), page)}</p>\n`;
  }
  return html;
}

// {html, headings} of a Markdown text.
export function render(text, { on_link = (target) => target, on_picture = (target) => target } = {}) {
  const page = { on_link, on_picture, anchors: new Map(), headings: [] };
  const html = blocks(text.replaceAll('\r', '').split('\n'), page);
  return { html, headings: page.headings };
}
