// A JSON value as a tree. Large values are previewed and can be downloaded.
import { query } from '../api';
import { link } from '../base_path';
import { with_part } from '../filter_text';
import { diff_lines, lines_of, type JsonLine } from '../json/lines';
import { stringify, type Json } from '../json/lossless';
import { count, words } from '../words';
import { Icon } from './icon';
import { VirtualList } from './virtual_list';

export const preview_max = 256 * 1024;

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// A value that others may have too leads to the list of them.
const longest_searched = 100;
const searched = (line: JsonLine): string | null => {
  if (!line.text || line.kind === 'head' || line.mark === 'del') return null;
  const value = typeof line.value === 'string' ? line.value : line.text;
  return value === '' || value.length > longest_searched || /"/.test(value + line.path) || / /.test(line.path) ? null : link(query('/instances', { q: with_part('', `data.${line.path}`, value) }));
};

function Line({ line, search }: { line: JsonLine; search?: boolean }) {
  const href = search ? searched(line) : null;
  const tone = line.kind === 'string' ? 'v-s' : line.kind === 'number' ? 'v-n' : '';
  return (
    <li class={line.mark ?? ''} title={`${line.path}${line.text ? `: ${line.text}` : ''}`}>
      {'  '.repeat(line.depth)}
      {line.name !== null && <span class="k">{line.name}:</span>}{' '}
      {line.text && (href ? <a class={`v ${tone}`} href={href} title={words.value.json.others}>{line.text}</a> : <span class={`v ${tone}`}>{line.text}</span>)}
    </li>
  );
}

// search: the value is the state of an instance.
export function JsonView({ value, before, name, label, search }: { value: Json; before?: Json; name: string; label: string; search?: boolean }) {
  const t = words.value.json;
  const text = stringify(value);
  if (text.length > preview_max) {
    return (
      <div class="bigjson">
        <div class="row">
          <span class="muted t12 grow">{t.large(count(Math.round(text.length / 1024)))}</span>
          <button class="btn is-s" type="button" onClick={() => download(`${name}.json`, stringify(value, 2))}>
            <Icon name="download" size={12} />
            {t.download}
          </button>
        </div>
        <pre class="mono" tabIndex={0}>
          {stringify(value, 2).slice(0, 64 * 1024)}…
        </pre>
      </div>
    );
  }
  if (text === '{}' || text === '[]') return <p class="muted t12 padded">{t.nothing}</p>;
  const lines = before === undefined ? lines_of(value) : diff_lines(before, value);
  if (lines.length === 0) return <p class="muted t12 padded">{t.nothing}</p>;
  if (lines.length > 200) return <VirtualList tag="ul" class="tree" label={label} count={lines.length} row={20} render={(at) => <Line key={at} line={lines[at]!} search={search} />} />;
  return (
    <ul class="tree" aria-label={label}>
      {lines.map((line, at) => (
        <Line key={at} line={line} search={search} />
      ))}
    </ul>
  );
}
