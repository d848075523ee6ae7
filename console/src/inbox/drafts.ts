// Half-filled forms, kept in this browser until the server keeps them.
import type { Json } from '../json/lossless';
import { store, stored } from '../settings';

export interface Draft {
  [name: string]: Json;
  value: Json;
  at: string;
}
export const read_draft = (task: string): Draft | null => stored<Draft | null>(`draft.${task}`, null);
export function write_draft(task: string, value: Json | undefined): string {
  const at = new Date().toISOString();
  store(`draft.${task}`, value === undefined ? undefined : { value, at });
  return at;
}
export const drop_draft = (task: string): void => store(`draft.${task}`, undefined);
