// Forms from JSON Schema: which field a schema gets, its first value, and what is wrong with a value.
import { Validator, type Schema as CheckSchema } from '@cfworker/json-schema';
import { ExactNumber, is_object, number_pattern, plain, type Json, type JsonObject } from '../json/lossless';

export type Schema = JsonObject;
export type Kind = 'choice' | 'text' | 'lines' | 'number' | 'boolean' | 'date' | 'datetime' | 'email' | 'uri' | 'list' | 'object' | 'json';

export function resolve(schema: Json | undefined, root: Schema): Schema {
  let now = is_object(schema) ? schema : {};
  for (let depth = 0; depth < 20 && typeof now.$ref === 'string' && now.$ref.startsWith('#/'); depth++) {
    let target: Json | undefined = root;
    for (const key of now.$ref.slice(2).split('/')) target = is_object(target) ? target[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
    if (!is_object(target)) return now;
    const { $ref: _, ...rest } = now;
    now = { ...target, ...rest };
  }
  return now;
}

export interface Option {
  value: Json;
  title: string;
  text?: string;
}

export function options_of(schema: Schema): Option[] | null {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => ({ value, title: String(value) }));
  const either = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(either) && either.length > 0 && either.every((one) => is_object(one) && 'const' in one)) {
    return (either as Schema[]).map((one) => ({ value: one.const!, title: String(one.title ?? one.const), text: typeof one.description === 'string' ? one.description : undefined }));
  }
  return null;
}

const type_of = (schema: Schema): string | undefined => {
  if (Array.isArray(schema.type)) return schema.type.find((one) => one !== 'null') as string | undefined;
  if (typeof schema.type === 'string') return schema.type;
  return is_object(schema.properties) ? 'object' : undefined;
};

export function kind_of(schema: Schema, name = ''): Kind {
  if (options_of(schema)) return 'choice';
  const widget = is_object(schema['x-ui']) ? schema['x-ui'].widget : undefined;
  switch (type_of(schema)) {
    case 'string':
      if (schema.format === 'date') return 'date';
      if (schema.format === 'date-time') return 'datetime';
      if (schema.format === 'email') return 'email';
      if (schema.format === 'uri') return 'uri';
      if (widget === 'multiline' || (typeof schema.maxLength === 'number' && schema.maxLength > 120) || /comment|text|note|reason|description|reply|message/i.test(name)) return 'lines';
      return 'text';
    case 'integer':
    case 'number': return 'number';
    case 'boolean': return 'boolean';
    case 'array': return is_object(schema.items) ? 'list' : 'json';
    case 'object': return is_object(schema.properties) ? 'object' : 'json';
    default: return 'json';
  }
}

// Answers of the server have their names sorted, so what must be filled in comes first, in the order that the author wrote.
export function names_of(schema: Schema): string[] {
  const names = Object.keys(is_object(schema.properties) ? schema.properties : {});
  const wanted = is_object(schema['x-ui']) && Array.isArray(schema['x-ui'].order) ? (schema['x-ui'].order as string[]) : [];
  const required = required_of(schema);
  return [...new Set([...wanted.filter((one) => names.includes(one)), ...required.filter((one) => names.includes(one)), ...names])];
}

export const required_of = (schema: Schema): string[] => (Array.isArray(schema.required) ? (schema.required as string[]) : []);

export function first_value(schema: Json | undefined, root: Schema): Json | undefined {
  const own = resolve(schema, root);
  if (own.default !== undefined) return own.default;
  if (own.const !== undefined) return own.const;
  if (kind_of(own) === 'object') {
    const value: JsonObject = {};
    for (const name of names_of(own)) {
      const member = first_value((own.properties as JsonObject)[name], root);
      if (member !== undefined) value[name] = member;
    }
    return value;
  }
  return undefined;
}

// A value without what was left empty.
export function filled(value: Json | undefined): Json | undefined {
  if (value === undefined || value === '') return undefined;
  if (value instanceof ExactNumber) return value.text.trim() === '' ? undefined : value;
  if (Array.isArray(value)) return value.map((one) => filled(one) ?? null);
  if (is_object(value)) return Object.fromEntries(Object.entries(value).flatMap(([name, one]) => (filled(one) === undefined ? [] : [[name, filled(one)!]])));
  return value;
}

export const label_of = (name: string, schema: Schema): string => {
  if (typeof schema.title === 'string') return schema.title;
  const spaced = name.replace(/[_-]+/g, ' ').replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return spaced ? spaced[0]!.toUpperCase() + spaced.slice(1) : name;
};

export const pointer = (path: (string | number)[]): string => path.map((one) => `/${String(one).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

export interface FormWords {
  required: string;
  number: string;
  short: (least: number) => string;
  long: (most: number) => string;
  least: (value: string) => string;
  most: (value: string) => string;
  pattern: string;
  choose: string;
  format: string;
}

function bad_numbers(value: Json | undefined, path: string, found: Map<string, string>, words: FormWords): void {
  if (value instanceof ExactNumber && !number_pattern.test(value.text.trim())) found.set(path, words.number);
  else if (Array.isArray(value)) value.forEach((one, at) => bad_numbers(one, `${path}/${at}`, found, words));
  else if (is_object(value)) for (const [name, one] of Object.entries(value)) bad_numbers(one, path + pointer([name]), found, words);
}

const at_pointer = (schema: Schema, root: Schema, path: string): Schema => {
  let now = resolve(schema, root);
  for (const key of path.split('/').slice(1)) {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    now = resolve(is_object(now.properties) && name in now.properties ? now.properties[name] : now.items, root);
  }
  return now;
};

// What is wrong, by the place of the field. The server decides in the end; this tells it at once.
export function faults(schema: Schema, value: Json | undefined, words: FormWords): Map<string, string> {
  const found = new Map<string, string>();
  bad_numbers(value, '', found, words);
  if (found.size > 0) return found;
  let result;
  try {
    result = new Validator(plain(schema) as CheckSchema, '2020-12', false).validate(plain(filled(value) ?? {}));
  } catch {
    return found; // a schema that this validator does not know is checked by the server only
  }
  for (const error of result.errors) {
    const place = decodeURI(error.instanceLocation.replace(/^#/, ''));
    const part = at_pointer(schema, schema, place);
    const limit = (name: string): number => Number(String(part[name] ?? 0));
    const add = (where: string, text: string) => {
      if (!found.has(where)) found.set(where, text);
    };
    switch (error.keyword) {
      case 'required': add(`${place}${pointer([/"(.*)"/.exec(error.error)?.[1] ?? ''])}`, words.required); break;
      case 'minLength': add(place, limit('minLength') <= 1 ? words.required : words.short(limit('minLength'))); break;
      case 'maxLength': add(place, words.long(limit('maxLength'))); break;
      case 'minimum':
      case 'exclusiveMinimum': add(place, words.least(String(part[error.keyword]))); break;
      case 'maximum':
      case 'exclusiveMaximum': add(place, words.most(String(part[error.keyword]))); break;
      case 'pattern': add(place, words.pattern); break;
      case 'enum':
      case 'oneOf':
      case 'const': add(place, words.choose); break;
      case 'format': add(place, words.format); break;
      case 'properties':
      case 'items':
      case 'if':
      case 'then':
      case 'else':
      case 'allOf':
      case '$ref': break;
      default: add(place, error.error);
    }
  }
  return found;
}

export function with_value(whole: Json | undefined, path: (string | number)[], value: Json | undefined): Json | undefined {
  if (path.length === 0) return value;
  const [head, ...rest] = path as [string | number, ...(string | number)[]];
  if (typeof head === 'number') {
    const list = Array.isArray(whole) ? [...whole] : [];
    const member = with_value(list[head], rest, value);
    if (member === undefined && rest.length === 0) list.splice(head, 1);
    else list[head] = member ?? null;
    return list;
  }
  const object: JsonObject = is_object(whole) ? { ...whole } : {};
  const member = with_value(object[head], rest, value);
  if (member === undefined) delete object[head];
  else object[head] = member;
  return object;
}
