// What a person is asked: the two answers, if the form has them, and the facts that matter, in words and figures.
import { label_of, options_of, required_of, resolve, type Schema } from '../form/model';
import { is_object, stringify, type Json, type JsonObject } from '../json/lossless';

export interface Choice {
  value: Json;
  title: string;
  yes: boolean;
}

export interface Decision {
  name: string;
  choices: [Choice, Choice]; // no, then yes
  rest: Schema; // the form without it
}

const no_words = /reject|declin|deny|denied|refus|^no$|nein|ablehn|dis/i;
const decision_words = /approv|accept|agree|decision|confirm|release|genehm|zustimm|ok$/i;

// A yes or no, or a choice of two, becomes two buttons.
export function decision_of(schema: Schema, words: { yes: string; no: string; approve: string; decline: string }): Decision | null {
  const members = is_object(schema.properties) ? schema.properties : {};
  const names = Object.keys(members).filter((name) => required_of(schema).includes(name) || decision_words.test(name));
  const found = names.map((name) => ({ name, own: resolve(members[name], schema) })).filter(({ own }) => own.type === 'boolean' || options_of(own)?.length === 2);
  const best = found.find(({ name }) => decision_words.test(name)) ?? (found.length === 1 ? found[0] : undefined);
  if (!best) return null;
  const options = options_of(best.own);
  const approves = decision_words.test(best.name);
  let choices: [Choice, Choice];
  if (options) {
    const [a, b] = options.map((one) => ({ value: one.value, title: title_of(one.title), yes: !no_words.test(one.title) && !no_words.test(String(one.value)) })) as [Choice, Choice];
    choices = a.yes && !b.yes ? [b, a] : [a, { ...b, yes: true }];
  } else {
    choices = [{ value: false, title: approves ? words.decline : words.no, yes: false }, { value: true, title: approves ? words.approve : words.yes, yes: true }];
  }
  const { [best.name]: _, ...others } = members;
  const rest = { ...schema, properties: others, required: required_of(schema).filter((one) => one !== best.name) };
  return { name: best.name, choices, rest };
}

const title_of = (text: string): string => (/^[a-z_]+$/.test(text) ? label_of(text, {}) : text);

export interface Fact {
  label: string;
  text: string;
}
export interface Item {
  title: string;
  note: string;
  figure: string;
}
export interface Facts {
  amount: Fact | null;
  facts: Fact[];
  lists: { label: string; items: Item[] }[];
  more: [string, Json][]; // what no rule fits
}

const amount_words = /^(amount|total|sum|price|cost|value|betrag|summe|preis)$/i;
const name_words = ['name', 'title', 'description', 'item', 'product', 'label', 'text', 'sku'];

// 21480.00 → 21,480.00. The digits stay as they are.
export function grouped(text: string, language: string): string {
  const match = /^(-?)(\d+)(\.\d+)?$/.exec(text);
  if (!match) return text;
  const [mark, point] = language === 'de' ? ['.', ','] : [',', '.'];
  return match[1] + match[2]!.replace(/\B(?=(\d{3})+$)/g, mark) + (match[3] ? point + match[3].slice(1) : '');
}

const is_plain = (value: Json): boolean => !is_object(value) && !Array.isArray(value);
const plain_text = (value: Json): string => (typeof value === 'string' ? value : stringify(value));

function money(value: Json, currency: string, language: string): string {
  const text = grouped(plain_text(value), language);
  const signs: Record<string, string> = { EUR: '€', USD: '$', GBP: '£', CHF: 'CHF ' };
  return /^-?[\d.,]+$/.test(text) && currency ? `${signs[currency] ?? `${currency} `}${text}` : text;
}

function item_of(row: JsonObject, currency: string, language: string): Item {
  const title = name_words.find((one) => typeof row[one] === 'string') ?? Object.keys(row).find((one) => typeof row[one] === 'string');
  const figure = Object.keys(row).find((one) => amount_words.test(one));
  const count = row.quantity ?? row.count ?? row.number;
  const rest = Object.entries(row).filter(([name, value]) => name !== title && name !== figure && is_plain(value) && !['quantity', 'count', 'number'].includes(name) && value !== null);
  return {
    title: `${count !== undefined && count !== null ? `${plain_text(count)} × ` : ''}${title ? String(row[title]) : ''}`,
    note: rest.map(([name, value]) => `${label_of(name, {})}: ${plain_text(value)}`).join(', '),
    figure: figure ? money(row[figure]!, currency, language) : '',
  };
}

export function facts_of(payload: Json, language: string): Facts {
  const found: Facts = { amount: null, facts: [], lists: [], more: [] };
  if (!is_object(payload)) return found;
  const currency = typeof payload.currency === 'string' ? payload.currency : '';
  const take = (name: string, value: Json, above = '') => {
    const label = above ? `${above}: ${label_of(name, {}).toLowerCase()}` : label_of(name, {});
    if (value === null || value === '' || (name === 'currency' && currency)) return;
    if (!above && !found.amount && amount_words.test(name) && is_plain(value)) found.amount = { label, text: money(value, currency, language) };
    else if (typeof value === 'boolean') found.facts.push({ label, text: value ? '✓' : '–' });
    else if (is_plain(value)) found.facts.push({ label, text: amount_words.test(name) ? money(value, currency, language) : grouped(plain_text(value), /number|id|year|zip|phone/i.test(name) ? '' : language) });
    else if (Array.isArray(value) && value.length > 0 && value.length <= 50 && value.every((one) => is_object(one))) found.lists.push({ label, items: value.map((one) => item_of(one as JsonObject, currency, language)) });
    else if (Array.isArray(value) && value.every(is_plain)) found.facts.push({ label, text: value.map(plain_text).join(', ') });
    else if (is_object(value) && !above) for (const [inner, one] of Object.entries(value)) take(inner, one, label);
    else found.more.push([label, value]);
  };
  for (const [name, value] of Object.entries(payload)) take(name, value);
  return found;
}

export const initials = (name: string): string =>
  name
    .replace(/@.*$/, '')
    .split(/[\s._-]+/)
    .filter(Boolean)
    .slice(0, 2)
    .map((one) => one[0]!.toUpperCase())
    .join('');

// ben.okafor → Ben Okafor; other names stay as they are.
export const person = (name: string): string => (/^[a-z]+([._][a-z]+)+$/.test(name) ? name.split(/[._]/).map((one) => one[0]!.toUpperCase() + one.slice(1)).join(' ') : name);
