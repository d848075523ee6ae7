// Runs one action for a frozen list of instances, a few at a time, from this page. It can be paused and it keeps what failed.
import { signal } from '@preact/signals';
import { part, send } from '../api';
import { reason_of } from '../ui/states';

export type BulkAction = 'retry' | 'resume' | 'suspend' | 'cancel' | 'delete';

export interface Batch {
  total: number;
  done: number;
  failed: { id: string; why: string }[];
  paused: boolean;
  finished: boolean;
}

const at_once = 4;

export function start_batch(ids: string[], action: BulkAction, reason: string) {
  const state = signal<Batch>({ total: ids.length, done: 0, failed: [], paused: false, finished: false });
  const waiting = [...ids];
  let stopped = false;
  let resume: (() => void)[] = [];
  const one = async (id: string) => {
    const at = `/v1/instances/${part(id)}`;
    try {
      if (action === 'delete') await send('DELETE', at, undefined, { reason });
      else await send('POST', `${at}/${action}`, reason ? { reason } : {}, { key: crypto.randomUUID?.() });
      state.value = { ...state.value, done: state.value.done + 1 };
    } catch (problem) {
      state.value = { ...state.value, done: state.value.done + 1, failed: [...state.value.failed, { id, why: reason_of(problem) }] };
    }
  };
  const lane = async () => {
    while (!stopped && waiting.length > 0) {
      if (state.value.paused) await new Promise<void>((go) => resume.push(go));
      const id = waiting.shift();
      if (id !== undefined && !stopped) await one(id);
    }
  };
  void Promise.all(Array.from({ length: at_once }, lane)).then(() => (state.value = { ...state.value, finished: true, paused: false }));
  return {
    state,
    pause(on: boolean) {
      state.value = { ...state.value, paused: on };
      if (!on) {
        for (const go of resume) go();
        resume = [];
      }
    },
    stop() {
      stopped = true;
      this.pause(false);
    },
  };
}
