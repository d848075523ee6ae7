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

// Full pages of a history never change, so only the last one is asked for again. A history without news is the same array as
// before: everything that the page derives from it stays valid.
interface Known {
  cursor: string | undefined; // after the full pages
  full: number; // entries in the full pages
  all: HistoryEntry[];
}
const known_histories = new Map<string, Known>();

export async function history_of(id: string, signal: AbortSignal): Promise<HistoryEntry[]> {
  const known = known_histories.get(id);
  let cursor = known?.cursor;
  let full = known?.full ?? 0;
  const fresh: HistoryEntry[] = [];
  for (;;) {
    const page: HistoryEntryPage = await get<HistoryEntryPage>(query(`/v1/instances/${part(id)}/history`, { limit: full + fresh.length ? 1000 : 200, cursor }), signal);
    fresh.push(...page.items);
    if (!page.next_cursor) break;
    cursor = page.next_cursor;
    full = (known?.full ?? 0) + fresh.length;
  }
  const length = (known?.full ?? 0) + fresh.length;
  if (known && known.all.length === length && known.all[length - 1]?.sequence === fresh[fresh.length - 1]?.sequence) return known.all;
  const all = known ? known.all.slice(0, known.full).concat(fresh) : fresh;
  if (known_histories.size > 4) known_histories.clear();
  known_histories.set(id, { cursor, full, all });
  return all;
}

export async function load_instance(id: string, signal: AbortSignal): Promise<InstanceView> {
  const at = `/v1/instances/${part(id)}`;
  const [instance, why, history, svg_text, runs, children, tasks] = await Promise.all([
    get<Instance>(at, signal),
    get<{ reasons: Reason[] }>(`${at}/why`, signal),
    history_of(id, signal),
    get_text(query(`${at}/diagram`, { format: 'svg', theme: 'tokens' }), signal).catch(() => ''),
    get<RunPage>(query('/v1/runs', { instance: id, limit: 50 }), signal),
    get<InstancePage>(query('/v1/instances', { parent: id, limit: 50 }), signal),
    may('view_tasks') ? get<TaskPage>(query('/v1/tasks', { instance: id, closed: true, limit: 50 }), signal) : { items: [] as Task[] },
  ]);
  const svg = svg_text ? read_svg(svg_text) : null;
  const layout = svg ? await layout_of(id, instance.version, signal) : null;
  return { instance, reasons: why.reasons, history, tasks: tasks.items, runs: runs.items, children: children.items, layout, svg, looks: svg ? step_looks(svg) : new Map() };
}

export const retrying_run = (view: InstanceView): Run | undefined => view.runs.find((run) => run.status === 'pending' && run.attempt > 0 && run.last_error);
