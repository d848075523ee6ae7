// What changed between two versions of a definition, step by step.
import { is_object, same, stringify, type Json, type JsonObject } from '../json/lossless';

export interface StepChange {
  kind: 'same' | 'changed' | 'new' | 'gone';
  id: string;
  title: string;
  details: { path: string; before: string; after: string }[];
}

interface FlatStep {
  id: string;
  title: string;
  own: JsonObject; // without the steps inside it
}

// All steps in reading order. A step is an object with an id and a type.
export function flat_steps(value: Json | undefined): FlatStep[] {
  const found: FlatStep[] = [];
  const strip = (one: Json): Json => {
    if (Array.isArray(one)) return one.every((item) => is_object(item) && typeof item.type === 'string' && typeof item.id === 'string') && one.length > 0 ? [] : one.map(strip);
    if (is_object(one)) return Object.fromEntries(Object.entries(one).map(([name, member]) => [name, strip(member)]));
    return one;
  };
  const walk = (one: Json | undefined) => {
    if (Array.isArray(one)) one.forEach(walk);
    else if (is_object(one)) {
      if (typeof one.id === 'string' && typeof one.type === 'string') {
        const own = strip(one) as JsonObject;
        found.push({ id: one.id, title: typeof one.title === 'string' ? one.title : one.id, own });
      }
      for (const [name, member] of Object.entries(one)) if (name !== 'form' && name !== 'input') walk(member);
    }
  };
  walk(value);
  return found;
}

function details_of(before: Json, after: Json, path: string, out: StepChange['details']): void {
  if (same(before, after)) return;
  if (is_object(before) && is_object(after)) {
    for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const at = path ? `${path}.${name}` : name;
      if (!(name in before)) out.push({ path: at, before: '', after: short(after[name]!) });
      else if (!(name in after)) out.push({ path: at, before: short(before[name]!), after: '' });
      else details_of(before[name]!, after[name]!, at, out);
    }
  } else out.push({ path, before: short(before), after: short(after) });
}
const short = (value: Json): string => {
  const text = typeof value === 'string' ? value : is_object(value) && typeof value.$expr === 'string' ? value.$expr : stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
};

export function compare(before: Json, after: Json): StepChange[] {
  const old = new Map(flat_steps(is_object(before) ? before.steps : undefined).map((one) => [one.id, one]));
  const now = flat_steps(is_object(after) ? after.steps : undefined);
  const changes: StepChange[] = now.map((step) => {
    const was = old.get(step.id);
    if (!was) return { kind: 'new', id: step.id, title: step.title, details: [] };
    const details: StepChange['details'] = [];
    details_of(was.own, step.own, '', details);
    return { kind: details.length ? 'changed' : 'same', id: step.id, title: step.title, details };
  });
  const kept = new Set(now.map((one) => one.id));
  let after_id = '';
  for (const step of old.values()) {
    if (!kept.has(step.id)) {
      const at = changes.findIndex((one) => one.id === after_id);
      changes.splice(at + 1, 0, { kind: 'gone', id: step.id, title: step.title, details: [] });
    }
    after_id = step.id;
  }
  return changes;
}
