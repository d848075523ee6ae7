// The titles of steps by definition. Lists name steps by id; the layout of the definition has what people call them.
import { signal } from '@preact/signals';
import { get, part, query } from './api';
import type { Layout } from './diagram/layout';

const titles = signal<ReadonlyMap<string, ReadonlyMap<string, string>>>(new Map());
const asked = new Set<string>();

async function load(name: string, version: string | undefined, key: string): Promise<void> {
  const at = version ? `/v1/definitions/${part(name)}/${part(version)}/diagram` : `/v1/definitions/${part(name)}/diagram`;
  try {
    const layout = (await get<unknown>(query(at, { format: 'json' }))) as Layout;
    const steps = new Map(layout.nodes.flatMap((node) => (node.step && node.text ? [[node.step, node.text] as const] : [])));
    titles.value = new Map(titles.value).set(key, steps);
  } catch {
    // The id stays.
  }
}

export function step_title(definition: string, version: string | undefined, step: string): string {
  const key = `${definition}@${version ?? ''}`;
  if (!asked.has(key) && asked.size < 60 && step) {
    asked.add(key);
    void load(definition, version, key);
  }
  return titles.value.get(key)?.get(step) ?? step;
}
