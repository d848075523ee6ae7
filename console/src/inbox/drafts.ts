// Half-filled forms, kept by the server: they survive a reload and appear in other tabs and on other machines.
import { get, part, send } from '../api';
import type { Draft } from '../api_types';
import { parse, stringify, type Json } from '../json/lossless';

const at = (task: string): string => `/v1/tasks/${part(task)}/draft`;

// The payload is the text of the value, so that a half-typed number keeps its digits: 5.90.
export async function read_draft(task: string, signal?: AbortSignal): Promise<Draft> {
  const draft = await get<Draft>(at(task), signal);
  return typeof draft.payload === 'string' ? { ...draft, payload: parse(draft.payload) } : draft;
}
export const write_draft = async (task: string, value: Json | undefined): Promise<string> => (await send<Draft>('PUT', at(task), { payload: stringify(value ?? null) })).saved_at ?? '';
export const drop_draft = (task: string): Promise<unknown> => send('DELETE', at(task)).catch(() => null);
