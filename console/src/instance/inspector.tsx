// What is known about the selected step.
import { useMemo } from 'preact/hooks';
import { part } from '../api';
import type { Run } from '../api_types';
import { link } from '../base_path';
import { node_of, title_of } from '../diagram/layout';
import { due_of } from '../instance_status';
import { is_object, stringify } from '../json/lossless';
import { CopyButton } from '../ui/copy';
import { Icon } from '../ui/icon';
import { Status, Tries, type Tone } from '../ui/status';
import { Moment } from '../ui/when';
import { is_past, lasting, moment, since, until, words } from '../words';
import type { InstanceView } from './load';
import { shape_tone } from './events';

const tone_of_state = (state: string, view: InstanceView, step: string): Tone | null => {
  switch (state) {
    case 'done': return 'completed';
    case 'current': return 'running';
    case 'waiting': return view.runs.some((run) => run.step === step && run.status === 'pending' && run.attempt > 0) ? 'retrying' : (shape_tone(step, view.layout) ?? 'time');
    case 'failing': return 'retrying';
    case 'failed': return 'suspended';
    case 'skipped': return 'cancelled';
    default: return null;
  }
};

export function Inspector({ view, step }: { view: InstanceView; step: string | undefined }) {
  const t = words.value.inspector;
  const d = words.value.diagram;
  const entries = useMemo(() => view.history.filter((one) => one.step === step), [view.history, step]);
  if (!step) {
    return (
      <aside class="inspector" aria-label={t.label}>
        <p class="muted">{t.choose}</p>
      </aside>
    );
  }
  const node = view.layout ? node_of(view.layout, step) : undefined;
  const look = view.looks.get(step);
  const tone = tone_of_state(look?.state ?? '', view, step);
  const first = entries[0];
  const done = entries.findLast((one) => one.event === 'completed');
  const task = view.tasks.find((one) => one.step === step);
  const run = view.runs.find((one) => one.step === step);
  const wait = (view.instance.waits ?? []).find((one) => one.step === step && one.kind !== 'timer') ?? (view.instance.waits ?? []).find((one) => one.step === step);
  const fault = entries.findLast((one) => one.event === 'faulted');
  const error = is_object(fault?.details) ? fault.details : undefined;
  const took = is_object(done?.details) && typeof done.details.duration_ms === 'number' ? done.details.duration_ms : undefined;
  const due = task && due_of(task);
  const state_word = look?.state ? (d.states[look.state as keyof typeof d.states] ?? look.state) : d.states['not reached'];
  return (
    <aside class="inspector" aria-label={t.label}>
      <div class="row">
        <span class="grow">
          <h2>{title_of(view.layout ?? undefined, step)}</h2>
          <span class="muted t12">
            {d.shapes[node?.shape as keyof typeof d.shapes] ?? node?.shape} · {t.step} <span class="mono">{step}</span>
          </span>
        </span>
        {tone ? <Status tone={tone} word={state_word} pill /> : <span class="muted t12">{state_word}</span>}
      </div>
      <dl class="facts">
        {task && (
          <>
            <dt>{t.who_may}</dt>
            <dd>{task.roles.length ? task.roles.join(', ') : task.assignee && !task.roles.length ? task.assignee : t.anybody}</dd>
            {task.exclude && task.exclude.length > 0 && (
              <>
                <dt>{t.not}</dt>
                <dd>{task.exclude.join(', ')}</dd>
              </>
            )}
            <dt>{t.taken_by}</dt>
            <dd>{task.assignee ?? t.nobody}</dd>
            {due && task.status !== 'completed' && (
              <>
                <dt>{t.due}</dt>
                <dd>
                  <span class="sla" data-st="person">
                    {`${moment(due)}, ${is_past(due) ? words.value.time.overdue(since(due, 1)) : words.value.time.left(until(due, 1))}`}
                  </span>
                </dd>
              </>
            )}
            {task.completed_by && (
              <>
                <dt>{t.answered_by}</dt>
                <dd>{task.completed_by}</dd>
              </>
            )}
          </>
        )}
        {wait?.name && wait.kind === 'signal' && (
          <>
            <dt>{t.signal}</dt>
            <dd class="mono">{wait.name}</dd>
            {wait.key !== undefined && wait.key !== null && (
              <>
                <dt>{t.key}</dt>
                <dd class="mono">{String(wait.key)}</dd>
              </>
            )}
          </>
        )}
        {first && (
          <>
            <dt>{t.since}</dt>
            <dd>
              <Moment at={first.at} />
              {wait && `, ${since(first.at, 2)}`}
            </dd>
          </>
        )}
        {took !== undefined && (
          <>
            <dt>{t.took}</dt>
            <dd>{lasting(took)}</dd>
          </>
        )}
        {wait?.until && (
          <>
            <dt>{t.until}</dt>
            <dd>
              <Moment at={wait.until} />, {until(wait.until)}
            </dd>
          </>
        )}
        {entries.length > 3 && (
          <>
            <dt>{t.events}</dt>
            <dd>{entries.length}</dd>
          </>
        )}
      </dl>
      {run && <RunFacts run={run} />}
      {error && (
        <div>
          <h3>{t.error}</h3>
          <p class="errtext">
            <code>{String(error.code)}</code> {String(error.message)}
          </p>
        </div>
      )}
      {task && is_object(task.payload) && Object.keys(task.payload).length > 0 && (
        <div>
          <h3>{t.person_sees}</h3>
          <dl class="facts">
            {Object.entries(task.payload).map(([name, value]) => (
              <>
                <dt>{name}</dt>
                <dd>{typeof value === 'string' ? value : stringify(value).slice(0, 200)}</dd>
              </>
            ))}
          </dl>
        </div>
      )}
      {wait?.kind === 'subworkflow' && wait.target && (
        <a href={link(`/instances/${part(wait.target)}`)} class="row">
          <Icon name="tree" />
          {t.child}
        </a>
      )}
      <div class="row foot">
        {task && (task.status === 'open' || task.status === 'assigned') && (
          <a class="btn is-s" href={link(`/inbox/${task.id}`)}>
            {t.open_task}
          </a>
        )}
        <span class="grow" />
        <CopyButton text={step} label={t.copy_step} />
      </div>
    </aside>
  );
}

function RunFacts({ run }: { run: Run }) {
  const t = words.value.inspector;
  return (
    <div>
      <h3>{t.call}</h3>
      <dl class="facts">
        <dt>{t.type}</dt>
        <dd class="mono">{run.type}</dd>
        <dt>{t.tries}</dt>
        <dd>
          <Tries attempt={run.attempt} of={run.max_attempts} />
          {words.value.status.n_of(run.attempt, run.max_attempts)}
        </dd>
        {run.status === 'pending' && run.attempt > 0 && (
          <>
            <dt>{t.next_try}</dt>
            <dd>{words.value.time.in(until(run.run_at))}</dd>
          </>
        )}
        {run.leased_by && run.status === 'leased' && (
          <>
            <dt>{t.worker}</dt>
            <dd class="mono">{run.leased_by}</dd>
          </>
        )}
        {run.last_error && run.status !== 'succeeded' && (
          <>
            <dt>{t.last_error}</dt>
            <dd class="errtext">{run.last_error}</dd>
          </>
        )}
      </dl>
    </div>
  );
}
