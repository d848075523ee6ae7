// Everything that the page of an instance shows, loaded together.
import { get, get_text, part, query } from '../api';
import type { HistoryEntry, HistoryEntryPage, Instance, InstancePage, Run, RunPage, Task, TaskPage } from '../api_types';
import { read_svg, step_looks, type Mark, type StepLook } from '../diagram/svg_reader';
import type { Layout } from '../diagram/layout';
import { may } from '../session';

export interface Reason {
  reason: string;
  kind?: string;
  step?: string;
  since?: string;
  until?: string;
  command?: string;
  alternatives?: string[];
}

export interface InstanceView {
  instance: Instance;
  reasons: Reason[];
  history: HistoryEntry[];
  tasks: Task[];
  runs: Run[];
  children: Instance[];
  layout: Layout | null;
  svg: Mark | null;
  looks: Map<string, StepLook>;
}

const layouts = new Map<string, Layout>();
async function layout_of(id: string, version: string, signal: AbortSignal): Promise<Layout | null> {
  const key = `${id}@${version}`;
  const known = layouts.get(key);
  if (known) return known;
  const layout = await get<unknown>(query(`/v1/instances/${part(id)}/diagram`, { format: 'json' }), signal) as Layout;
  if (layouts.size > 20) layouts.clear();
  layouts.set(key, layout);
  return layout;
}

// Full pages of a history never change, so only the last one is asked for again.
const full_pages = new Map<string, { cursor: string; items: HistoryEntry[] }>();
export async function history_of(id: string, signal: AbortSignal): Promise<HistoryEntry[]> {
  const known = full_pages.get(id);
  const items = known ? [...known.items] : [];
  let cursor: string | null | undefined = known?.cursor;
  for (;;) {
    const page: HistoryEntryPage = await get<HistoryEntryPage>(query(`/v1/instances/${part(id)}/history`, { limit: items.length ? 1000 : 200, cursor }), signal);
    items.push(...page.items);
    cursor = page.next_cursor;
    if (!cursor) return items;
    if (full_pages.size > 4 && !full_pages.has(id)) full_pages.clear();
    full_pages.set(id, { cursor, items: [...items] });
  }
}

export async function load_instance(id: string, signal: AbortSignal): Promise<InstanceView> {
  const at = `/v1/instances/${part(id)}`;
  const [instance, why, history, svg_text, runs, children, tasks] = await Promise.all([
    get<Instance>(at, signal),
    get<{ reasons: Reason[] }>(`${at}/why`, signal),
    history_of(id, signal),
    get_text(query(`${at}/diagram`, { format: 'svg', theme: 'light' }), signal).catch(() => ''),
    get<RunPage>(query('/v1/runs', { instance: id, limit: 50 }), signal),
    get<InstancePage>(query('/v1/instances', { parent: id, limit: 50 }), signal),
    may('view_tasks') ? get<TaskPage>(query('/v1/tasks', { instance: id, closed: true, limit: 50 }), signal) : { items: [] as Task[] },
  ]);
  const svg = svg_text ? read_svg(svg_text) : null;
  const layout = svg ? await layout_of(id, instance.version, signal) : null;
  return { instance, reasons: why.reasons, history, tasks: tasks.items, runs: runs.items, children: children.items, layout, svg, looks: svg ? step_looks(svg) : new Map() };
}

export const retrying_run = (view: InstanceView): Run | undefined => view.runs.find((run) => run.status === 'pending' && run.attempt > 0 && run.last_error);
