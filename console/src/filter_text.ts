// The filter language of the API: name:value pairs and free words. The same rules as src/api/filter_text.cc.
export interface FilterPart {
  name: string; // empty: free words
  value: string;
}

export function read_filter(text: string): FilterPart[] {
  const parts: FilterPart[] = [];
  let at = 0;
  while (at < text.length) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    const stop = text.slice(at).search(/[ ":]/);
    const end = stop < 0 ? text.length : at + stop;
    let name = '';
    if (text[end] === ':' && /^[A-Za-z]/.test(text.slice(at, end))) {
      name = text.slice(at, end);
      at = end + 1;
    }
    let value: string;
    if (text[at] === '"') {
      const close = text.indexOf('"', at + 1);
      value = text.slice(at + 1, close < 0 ? text.length : close);
      at = close < 0 ? text.length : close + 1;
    } else {
      const space = text.indexOf(' ', at);
      value = text.slice(at, space < 0 ? text.length : space);
      at = space < 0 ? text.length : space;
    }
    if (value !== '' || name !== '') parts.push({ name, value });
  }
  return parts;
}

const quoted = (value: string, name: string): string =>
  value === '' || /[ "]/.test(value) || (name === '' && /^[A-Za-z][^ "]*:/.test(value)) ? `"${value.replaceAll('"', '')}"` : value;

export function write_filter(parts: FilterPart[]): string {
  return parts.map((one) => (one.name ? `${one.name}:${quoted(one.value, one.name)}` : quoted(one.value, ''))).join(' ');
}

// The server takes the last value of a name, so setting one replaces it.
export function with_part(text: string, name: string, value: string): string {
  const parts = read_filter(text).filter((one) => one.name !== name);
  return write_filter([...parts, { name, value }]);
}

export function without_part(text: string, index: number): string {
  return write_filter(read_filter(text).filter((_, at) => at !== index));
}

export const instance_names = ['status', 'definition', 'version', 'ref', 'part.', 'data.', 'parent', 'from', 'to', 'step', 'error', 'deleted'];
export const status_names = ['running', 'waiting', 'retrying', 'suspended', 'completed', 'failed', 'cancelled'];

// What could follow the text before the caret: a name, or a value of a name.
export function complete(text: string, definitions: string[]): string[] {
  const word = /(?:^|\s)(\S*)$/.exec(text)?.[1] ?? '';
  const before = text.slice(0, text.length - word.length);
  const colon = word.indexOf(':');
  if (colon < 0) return instance_names.filter((one) => one.startsWith(word) && word !== '').map((one) => before + one + (one.endsWith('.') ? '' : ':'));
  const name = word.slice(0, colon);
  const start = word.slice(colon + 1);
  const values = name === 'status' ? status_names : name === 'definition' ? definitions : name === 'deleted' ? ['yes', 'no'] : [];
  return values.filter((one) => one.startsWith(start) && one !== start).map((one) => `${before}${name}:${one}`);
}
