// The first thing on the page of an instance: why it does not move, and the button that moves it.
import { part } from '../api';
import type { Task } from '../api_types';
import { link } from '../base_path';
import { title_of } from '../diagram/layout';
import { ended, main_wait, next_timer } from '../instance_status';
import { may } from '../session';
import { Icon } from '../ui/icon';
import type { Tone } from '../ui/status';
import { since, until, moment, words } from '../words';
import { retrying_run, type InstanceView } from './load';
import type { Action } from './actions';

interface Said {
  tone: Tone;
  first: string;
  more: string;
}

function say(view: InstanceView, task: Task | undefined): Said | null {
  const t = words.value.why;
  const { instance, layout } = view;
  const step = (name: string) => title_of(layout ?? undefined, name);
  if (instance.status === 'suspended') {
    const { error } = instance;
    if (error) return { tone: 'suspended', first: t.stopped(step(error.step ?? ''), error.code), more: error.message };
    const entry = [...view.history].reverse().find((one) => one.event === 'suspended');
    const reason = (entry?.details as { reason?: string } | null)?.reason;
    return { tone: 'suspended', first: t.held(entry?.actor ?? ''), more: reason ? t.because(reason) : t.held_more };
  }
  if (instance.status === 'failed') return { tone: 'failed', first: t.failed(instance.error ? step(instance.error.step ?? '') : '', instance.error?.code ?? ''), more: instance.error?.message ?? '' };
  if (ended(instance)) return null;
  const run = retrying_run(view);
  if (run) return { tone: 'retrying', first: t.retrying(step(run.step ?? ''), run.attempt, run.max_attempts), more: `${run.last_error} · ${t.next_try(until(run.run_at))}` };
  const wait = main_wait(instance.waits);
  if (!wait) return null;
  // The server says of each timer what it is for; only its text does, so a timer it calls otherwise is named by its step.
  const timers = view.reasons.filter((one) => one.kind === 'timer' && one.until).sort((a, b) => (a.until! < b.until! ? -1 : 1));
  const deadline = timers.find((one) => /deadline/.test(one.reason));
  const reminder = timers.find((one) => /remind/.test(one.reason));
  const other = next_timer(instance.waits?.filter((one) => one !== wait));
  const later = [reminder && t.reminder(moment(reminder.until!)), deadline && t.deadline(moment(deadline.until!)), !deadline && !reminder && other && t.timer(step(other.step), moment(other.until!))].filter(Boolean).join(' ');
  switch (wait.kind) {
    case 'task': {
      const who = task?.assignee ? t.task_taken(task.assignee) : t.task_open(since(wait.since, 2));
      const role = task?.roles.length ? t.person_with(task.roles.join(', ')) : t.person;
      return { tone: 'person', first: `${t.task(role, task?.title ?? step(wait.step))} ${who}`, more: later || t.no_limit };
    }
    case 'signal': return { tone: 'event', first: t.signal(wait.name ?? '', wait.key === null || wait.key === undefined ? '' : String(wait.key), since(wait.since, 2)), more: later || t.no_limit };
    case 'timer': return { tone: 'time', first: t.time(step(wait.step), wait.until ? moment(wait.until) : ''), more: wait.until ? t.time_left(until(wait.until)) : '' };
    case 'subworkflow': return { tone: 'running', first: t.child(step(wait.step)), more: later };
    default: {
      const own = view.runs.find((one) => one.id === wait.target);
      if (own?.status === 'leased') return { tone: 'running', first: t.running_by(step(wait.step), own.leased_by ?? ''), more: own.lease_until ? t.lease(moment(own.lease_until)) : '' };
      return { tone: 'running', first: t.no_worker(step(wait.step), wait.name ?? ''), more: t.since(since(wait.since, 2)) };
    }
  }
}

export function WhyPanel({ view, onAction }: { view: InstanceView; onAction: (action: Action) => void }) {
  const t = words.value.why;
  const { instance } = view;
  const wait = main_wait(instance.waits);
  const task = wait?.kind === 'task' ? view.tasks.find((one) => one.id === wait.target) : undefined;
  const said = say(view, task);
  if (!said) return null;
  const operate = may('operate');
  const child = wait?.kind === 'subworkflow' ? wait.target : undefined;
  return (
    <section class="why" data-st={said.tone} aria-label={t.label}>
      <Icon name={said.tone} />
      <div class="say">
        <strong>{said.first}</strong>
        {said.more && <span>{said.more}</span>}
      </div>
      <div class="actions">
        {instance.status === 'suspended' && operate && instance.error && (
          <>
            <button class="btn" type="button" onClick={() => onAction('skip')}>
              <Icon name="skip" />
              {t.skip}
            </button>
            <button class="btn" type="button" onClick={() => onAction('edit')}>
              <Icon name="edit" />
              {t.edit}
            </button>
            <button class="btn is-primary" type="button" onClick={() => onAction('retry')}>
              <Icon name="retrying" />
              {t.retry}
            </button>
          </>
        )}
        {instance.status === 'suspended' && operate && !instance.error && (
          <button class="btn is-primary" type="button" onClick={() => onAction('resume')}>
            <Icon name="play" />
            {t.resume}
          </button>
        )}
        {task && may('view_tasks') && (
          <a class="btn is-primary" href={link(`/inbox/${task.id}`)}>
            {t.open_task}
          </a>
        )}
        {wait?.kind === 'signal' && instance.status === 'waiting' && may('start') && (
          <button class="btn is-primary" type="button" onClick={() => onAction('signal')}>
            <Icon name="event" />
            {t.send_signal}
          </button>
        )}
        {child && (
          <a class="btn is-primary" href={link(`/instances/${part(child)}`)}>
            {t.open_child}
          </a>
        )}
        {said.tone === 'retrying' && (
          <a class="btn" href={link(`/runs?instance=${part(instance.id)}`)}>
            {t.see_run}
          </a>
        )}
        {said.tone === 'running' && wait?.kind === 'run' && (
          <a class="btn" href={link('/runs')}>
            {t.see_workers}
          </a>
        )}
      </div>
    </section>
  );
}
