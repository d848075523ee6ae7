// The same error at the same step is one group.
import type { Instance, Run } from './api_types';
import { error_of } from './retrying';

export interface ErrorGroup {
  key: string;
  tone: 'suspended' | 'retrying' | 'failed';
  definition: string;
  step: string;
  code: string;
  message: string;
  ids: string[];
  references: string[];
  times: number[];
  next_try?: string;
}

interface Row {
  tone: ErrorGroup['tone'];
  definition: string;
  step: string;
  code: string;
  message: string;
  id: string;
  reference: string;
  at: string;
  next_try?: string;
}

export const reference_of = (row: { id: string; reference: Instance['reference'] }): string => (row.reference?.key === null || row.reference?.key === undefined ? '' : String(row.reference.key));

export function group_errors(suspended: Instance[], failed: Instance[], retrying: Map<string, Run>, names: Map<string, { definition: string; reference: string }>): ErrorGroup[] {
  const rows: Row[] = [];
  for (const [tone, list] of [['suspended', suspended], ['failed', failed]] as const) {
    for (const one of list) {
      if (!one.error) continue;
      rows.push({ tone, definition: one.definition, step: one.error.step ?? '', code: one.error.code, message: one.error.message, id: one.id, reference: reference_of(one), at: one.changed_at });
    }
  }
  for (const [id, run] of retrying) {
    const error = error_of(run);
    rows.push({ tone: 'retrying', definition: names.get(id)?.definition ?? run.type, step: run.step ?? '', code: error.code, message: error.message, id, reference: names.get(id)?.reference ?? '', at: run.updated_at ?? run.run_at, next_try: run.run_at });
  }
  const groups = new Map<string, ErrorGroup>();
  for (const row of rows) {
    const key = [row.tone, row.definition, row.step, row.code].join('\n');
    let group = groups.get(key);
    if (!group) {
      group = { key, tone: row.tone, definition: row.definition, step: row.step, code: row.code, message: row.message, ids: [], references: [], times: [] };
      groups.set(key, group);
    }
    group.ids.push(row.id);
    group.references.push(row.reference || row.id);
    group.times.push(Date.parse(row.at));
    if (row.next_try && (!group.next_try || row.next_try < group.next_try)) group.next_try = row.next_try;
  }
  const rank = { suspended: 0, retrying: 1, failed: 2 };
  return [...groups.values()].sort((a, b) => rank[a.tone] - rank[b.tone] || b.ids.length - a.ids.length);
}
