// Lists have no waits. For the rows on screen the page asks for each, a few at a time, and keeps the answers until the row changes.
import { signal } from '@preact/signals';
import { get, part } from './api';
import type { Instance } from './api_types';

export const details = signal<ReadonlyMap<string, Instance>>(new Map());
const asked = new Set<string>();
const queue: Instance[] = [];
let busy = 0;

async function next(): Promise<void> {
  const row = queue.shift();
  if (!row) return;
  busy++;
  try {
    const full = await get<Instance>(`/v1/instances/${part(row.id)}`);
    const known = new Map(details.value);
    if (known.size > 3000) known.clear();
    details.value = known.set(row.id, full);
  } catch {
    // The row stays without details.
  }
  busy--;
  void next();
}

export function want_details(rows: Instance[]): void {
  for (const row of rows) {
    if (row.status !== 'waiting') continue;
    const key = `${row.id}@${row.state_version}`;
    if (asked.has(key)) continue;
    asked.add(key);
    queue.push(row);
  }
  while (queue.length > 120) queue.shift();
  while (busy < 3 && queue.length > 0) void next();
}

export const with_details = (row: Instance): Instance => {
  const full = details.value.get(row.id);
  return full && full.state_version >= row.state_version ? full : row;
};
