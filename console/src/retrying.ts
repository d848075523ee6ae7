// Which instances are retrying: their run failed, has attempts left and waits for its next try.
import { get, query } from './api';
import type { Failure, Run, RunPage } from './api_types';
import { useResource, type Resource } from './resource';

export interface Retrying {
  runs: Map<string, Run>; // by instance
  more: boolean; // there are pending runs beyond the first page
}

export async function load_retrying(signal?: AbortSignal): Promise<Retrying> {
  const page = await get<RunPage>(query('/v1/runs', { status: 'pending', limit: 200 }), signal);
  const runs = new Map<string, Run>();
  for (const run of page.items) if (run.instance && run.attempt > 0 && run.last_error) runs.set(run.instance, run);
  return { runs, more: Boolean(page.next_cursor) };
}

export const useRetrying = (): Resource<Retrying> => useResource('retrying', load_retrying, { poll: 5000, live: (event) => event.type.startsWith('cairn.run.'), least: 1000 });

export const error_of = (run: Run): Failure => (run.error as unknown as Failure | null) ?? { class: '', code: (run.last_error ?? '').split(':')[0]!, message: run.last_error ?? '' };
