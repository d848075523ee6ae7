// The history of an instance in words.
import type { HistoryEntry } from '../api_types';
import { title_of, type Layout } from '../diagram/layout';
import { is_object, stringify } from '../json/lossless';
import type { Tone } from '../ui/status';
import { words } from '../words';

export interface EventLook {
  icon: string;
  tone?: Tone;
  text: string;
}

export function look_of(entry: HistoryEntry, layout: Layout | null): EventLook {
  const t = words.value.history;
  const step = entry.step ? title_of(layout ?? undefined, entry.step) : '';
  const details = is_object(entry.details) ? entry.details : {};
  const code = typeof details.code === 'string' ? details.code : '';
  const reason = typeof details.reason === 'string' ? details.reason : '';
  const why = reason ? `: ${reason}` : '';
  switch (entry.event) {
    case 'started': return entry.step ? { icon: shape_icon(entry.step, layout), tone: shape_tone(entry.step, layout), text: t.waiting(step) } : { icon: 'start', tone: 'event', text: t.started(entry.actor) };
    case 'completed': return step ? { icon: 'completed', tone: 'completed', text: t.step_done(step) } : { icon: 'completed', tone: 'completed', text: t.completed };
    case 'faulted': return { icon: 'retrying', tone: 'retrying', text: t.faulted(step, code || stringify(entry.details).slice(0, 60)) };
    case 'suspended': return { icon: 'suspended', tone: 'suspended', text: code ? t.stopped(step) : t.suspended(entry.actor) + why };
    case 'resumed': return { icon: 'play', tone: 'running', text: t.resumed(entry.actor) + why };
    case 'skipped': return { icon: 'skip', tone: 'cancelled', text: t.skipped(step, entry.actor) };
    case 'cancelled': return { icon: 'cancelled', tone: 'cancelled', text: t.cancelled(entry.actor) + why };
    case 'edited': return { icon: 'edit', tone: 'person', text: t.edited(entry.actor) + why };
    default: return { icon: 'start', text: `${entry.event} ${step}` };
  }
}

export function shape_icon(step: string, layout: Layout | null): string {
  const shape = layout?.nodes.find((one) => one.step === step)?.shape;
  return { task: 'person', wait: 'time', signal: 'event', action: 'call', subworkflow: 'tree', decision: 'decision', race: 'decision', event: 'arrow', data: 'edit' }[shape ?? ''] ?? 'start';
}

export function shape_tone(step: string, layout: Layout | null): Tone | undefined {
  const shape = layout?.nodes.find((one) => one.step === step)?.shape;
  return ({ task: 'person', wait: 'time', signal: 'event', action: 'running', subworkflow: 'running' } as Record<string, Tone>)[shape ?? ''];
}
