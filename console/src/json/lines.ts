// A JSON value as lines of a tree, and what differs between two values.
import { ExactNumber, is_object, stringify, type Json } from './lossless';

export interface JsonLine {
  depth: number;
  name: string | null;
  path: string;
  text: string; // the value, or empty for the head of an object or list
  kind: 'string' | 'number' | 'word' | 'head';
  value: Json;
  mark?: 'add' | 'del';
}

const kind_of = (value: Json): JsonLine['kind'] =>
  typeof value === 'string' ? 'string' : typeof value === 'number' || value instanceof ExactNumber ? 'number' : value === null || typeof value === 'boolean' ? 'word' : 'head';

function is_leaf(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return !is_object(value) || Object.keys(value).length === 0;
}

const members = (value: Json): [string, Json][] => (Array.isArray(value) ? value.map((one, at) => [String(at), one]) : Object.entries(value as { [name: string]: Json }));

export function lines_of(value: Json, depth = 0, name: string | null = null, path = '', mark?: 'add' | 'del'): JsonLine[] {
  const head: JsonLine = { depth, name, path, text: is_leaf(value) ? stringify(value) : '', kind: is_leaf(value) ? kind_of(value) : 'head', value, mark };
  if (is_leaf(value)) return [{ ...head, kind: kind_of(value) }];
  const inner = members(value).flatMap(([key, one]) => lines_of(one, name === null ? depth : depth + 1, key, path ? `${path}.${key}` : key, mark));
  return name === null ? inner : [head, ...inner];
}

// The lines of `after`, with removed lines of `before` in front of what replaced them.
export function diff_lines(before: Json, after: Json, depth = 0, name: string | null = null, path = ''): JsonLine[] {
  if (stringify(before) === stringify(after)) return lines_of(after, depth, name, path);
  const both = !is_leaf(before) && !is_leaf(after) && Array.isArray(before) === Array.isArray(after);
  if (!both) {
    if (name === null) return [...lines_of(before, depth, name, path, 'del'), ...lines_of(after, depth, name, path, 'add')];
    return [...lines_of(before, depth, name, path, 'del'), ...lines_of(after, depth, name, path, 'add')];
  }
  const old = new Map(members(before));
  const now = new Map(members(after));
  const inner: JsonLine[] = [];
  const deeper = name === null ? depth : depth + 1;
  const below = (key: string) => (path ? `${path}.${key}` : key);
  for (const [key, one] of old) if (!now.has(key)) inner.push(...lines_of(one, deeper, key, below(key), 'del'));
  for (const [key, one] of now) {
    if (old.has(key)) inner.push(...diff_lines(old.get(key)!, one, deeper, key, below(key)));
    else inner.push(...lines_of(one, deeper, key, below(key), 'add'));
  }
  return name === null ? inner : [{ depth, name, path, text: '', kind: 'head', value: after }, ...inner];
}
