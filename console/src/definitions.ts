// The names and titles of definitions, loaded once for all pages.
import { signal } from '@preact/signals';
import { get, query } from './api';
import type { Definition, DefinitionPage } from './api_types';

export const definitions = signal<Definition[]>([]);
let loaded = 0;

export async function load_definitions(force = false): Promise<Definition[]> {
  if (!force && definitions.value.length > 0 && Date.now() - loaded < 30000) return definitions.value;
  const all: Definition[] = [];
  let cursor: string | null | undefined;
  do {
    const page: DefinitionPage = await get<DefinitionPage>(query('/v1/definitions', { limit: 200, cursor }));
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && all.length < 2000);
  loaded = Date.now();
  definitions.value = all;
  return all;
}

export const title_of_definition = (name: string): string => definitions.value.find((one) => one.name === name && one.title)?.title ?? name;
export const names = (): string[] => [...new Set(definitions.value.map((one) => one.name))];
// 1.10.0 is newer than 1.9.0.
export function compare_versions(a: string, b: string): number {
  const [left, right] = [a, b].map((one) => one.split(/[.+-]/));
  for (let at = 0; at < Math.max(left!.length, right!.length); at++) {
    const [x, y] = [left![at] ?? '', right![at] ?? ''];
    const difference = /^\d+$/.test(x) && /^\d+$/.test(y) ? Number(x) - Number(y) : x.localeCompare(y);
    if (difference) return difference;
  }
  return 0;
}
