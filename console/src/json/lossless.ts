// JSON that keeps the text of its numbers: 9007199254740993 and 1.50 are shown and sent as they were written.
export class ExactNumber {
  constructor(readonly text: string) {}
  toString(): string {
    return this.text;
  }
}

export type Json = null | boolean | number | string | ExactNumber | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export const number_pattern = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

export function is_object(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

// A number of JavaScript if it prints as the same text, otherwise the text.
export function number_of(text: string): number | ExactNumber {
  const value = Number(text);
  return String(value) === text ? value : new ExactNumber(text);
}

// Most documents have no number that JavaScript would change. This finds out without parsing; a hit inside a string only costs time.
const risky = /(?:^|[:[,\s])-?(?:\d{16,}|\d*\.\d|\d+[eE])|-0/;

export function parse(text: string): Json {
  if (!risky.test(text)) return JSON.parse(text) as Json;
  let at = 0;
  const fail = (what: string): never => {
    throw new SyntaxError(`${what} at position ${at}`);
  };
  const space = () => {
    while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  };
  const string = (): string => {
    const begin = at++;
    while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    if (at >= text.length) fail('the string is not closed');
    at++;
    return JSON.parse(text.slice(begin, at)) as string;
  };
  const value = (depth: number): Json => {
    if (depth > 500) fail('too many levels');
    space();
    const first = text[at];
    if (first === '{') {
      const object: JsonObject = {};
      at++;
      space();
      if (text[at] === '}') {
        at++;
        return object;
      }
      for (;;) {
        space();
        if (text[at] !== '"') fail('a name in quotes is missing');
        const name = string();
        space();
        if (text[at++] !== ':') fail('a colon is missing');
        const member = value(depth + 1);
        if (name === '__proto__') Object.defineProperty(object, name, { value: member, enumerable: true, configurable: true, writable: true });
        else object[name] = member;
        space();
        const next = text[at++];
        if (next === '}') return object;
        if (next !== ',') fail('a comma or } is missing');
      }
    }
    if (first === '[') {
      const list: Json[] = [];
      at++;
      space();
      if (text[at] === ']') {
        at++;
        return list;
      }
      for (;;) {
        list.push(value(depth + 1));
        space();
        const next = text[at++];
        if (next === ']') return list;
        if (next !== ',') fail('a comma or ] is missing');
      }
    }
    if (first === '"') return string();
    const word = /[^\s,\]}]*/y;
    word.lastIndex = at;
    const found = word.exec(text)![0];
    if (found === '') fail('a value is missing');
    if (found === 'true' || found === 'false' || found === 'null') {
      at += found.length;
      return found === 'null' ? null : found === 'true';
    }
    if (!number_pattern.test(found)) fail(`${found} is no value`);
    at += found.length;
    return number_of(found);
  };
  const result = value(0);
  space();
  if (at < text.length) fail('there is more text');
  return result;
}

export function stringify(value: Json | undefined, indent = 0, level = 0): string {
  if (value === undefined) return 'null';
  if (value instanceof ExactNumber) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const list = Array.isArray(value);
  const parts = list
    ? value.map((one) => stringify(one, indent, level + 1))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}:${indent ? ' ' : ''}${stringify(one, indent, level + 1)}`);
  if (parts.length === 0) return list ? '[]' : '{}';
  const [open, close] = list ? '[]' : '{}';
  if (!indent) return open + parts.join(',') + close;
  const pad = '\n' + ' '.repeat(indent * (level + 1));
  return open + pad + parts.join(`,${pad}`) + '\n' + ' '.repeat(indent * level) + close;
}

// For validators, which know only the numbers of JavaScript.
export function plain(value: Json): unknown {
  if (value instanceof ExactNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  if (is_object(value)) return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
  return value;
}

export function same(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || stringify(a) === stringify(b);
}
