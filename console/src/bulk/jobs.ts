// Bulk actions: the server freezes the selection, runs the action and remembers the results.
import { get, part, query, send } from '../api';
import type { BulkProgress, BulkStarted } from '../api_types';
import type { Json } from '../json/lossless';

export type BulkAction = 'retry' | 'resume' | 'suspend' | 'cancel' | 'delete';
export interface Selection {
  ids?: string[];
  filter?: string; // or everything that matches
}

export interface Preview {
  id: string;
  total: number;
  first: string[];
}

const most = 100_000;

export async function preview(action: BulkAction, { ids, filter }: Selection): Promise<Preview> {
  const chosen: Record<string, Json> = ids ? { instances: ids } : filter?.trim() ? { filter } : { all: true };
  const answer = await send<BulkStarted>('POST', '/v1/bulk', { action, ...chosen, preview: true, max: most });
  const rows = (answer.instances ?? []) as { id: string; reference?: string }[];
  return { id: answer.id!, total: answer.matched, first: rows.map((one) => one.reference ?? one.id) };
}

export type JobChange = 'start' | 'pause' | 'resume' | 'cancel';
export const change_job = (id: string, change: JobChange, reason = ''): Promise<BulkProgress> => send<BulkProgress>('POST', `/v1/bulk/${part(id)}/${change}`, reason ? { reason } : {});
export const job_of = (id: string, after?: number, signal?: AbortSignal): Promise<BulkProgress> => get<BulkProgress>(query(`/v1/bulk/${part(id)}`, { after }), signal);
export const through = (job: BulkProgress): number => job.done + job.failed_count;
