// What an instance is doing, in one word and one sentence.
import type { Instance, Task, Wait } from './api_types';
import type { Tone } from './ui/status';

const order: Wait['kind'][] = ['task', 'signal', 'retry', 'run', 'subworkflow', 'timer'];

// The wait that says most: a deadline beside a task is not what the instance waits for.
export function main_wait(waits: Wait[] | undefined): Wait | undefined {
  return [...(waits ?? [])].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))[0];
}

export function next_timer(waits: Wait[] | undefined): Wait | undefined {
  return (waits ?? []).filter((one) => one.until).sort((a, b) => (a.until! < b.until! ? -1 : 1))[0];
}

export function tone_of(row: Instance): Tone | 'waiting' {
  if (row.retrying && !ended(row) && row.status !== 'suspended') return 'retrying';
  if (row.status !== 'waiting') return row.status;
  const wait = main_wait(row.waits);
  switch (wait?.kind) {
    case 'task': return 'person';
    case 'timer': return 'time';
    case 'signal': return 'event';
    case 'retry': return 'retrying';
    case 'run':
    case 'subworkflow': return 'running';
    default: return 'waiting';
  }
}

export const ended = (row: Instance): boolean => row.status === 'completed' || row.status === 'failed' || row.status === 'cancelled';
export const due_of = (task: Task): string | undefined => (task.due && task.deadline ? (task.due < task.deadline ? task.due : task.deadline) : (task.due ?? task.deadline));
