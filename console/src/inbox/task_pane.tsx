// A task: what it is about, its form, its answers.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, part, Problem, send } from '../api';
import type { Draft, Task } from '../api_types';
import { link } from '../base_path';
import { now } from '../clock';
import { faults, filled, first_value, label_of, type Schema } from '../form/model';
import { SchemaForm } from '../form/schema_form';
import { due_of } from '../instance_status';
import { is_object, stringify, type Json } from '../json/lossless';
import { useResource } from '../resource';
import { may, user } from '../session';
import { act_as } from '../settings';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { JsonView } from '../ui/json_view';
import { Broken, Loading, reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { clock_time, exact, is_past, moment, since, until, words } from '../words';
import { due_tone } from '../pages/inbox';
import { drop_draft, read_draft, write_draft } from './drafts';
import { LinkDialog } from './link_dialog';

export interface TaskHandle {
  focus: () => void;
  complete: (next: boolean) => void;
  claim: () => void;
}

interface Props {
  id: string;
  handle: { current: TaskHandle | null };
  onNext: (done: string) => Task | undefined;
  onChanged: () => void;
}

export function TaskPane({ id, handle, onNext, onChanged }: Props) {
  const loaded = useResource(`task ${id}`, (signal) => get<Task>(`/v1/tasks/${part(id)}`, signal), { live: (event) => event.type.startsWith('cairn.task.') && stringify(event.data).includes(id) });
  const draft = useResource(`draft ${id}`, (signal) => (may('work_tasks') ? read_draft(id, signal).catch(() => no_draft) : Promise.resolve(no_draft)));
  if (!loaded.value || !draft.value) return <div class="col">{loaded.error ? <Broken error={loaded.error} retry={loaded.reload} /> : <Loading />}</div>;
  return <TaskForm task={loaded.value} draft={draft.value} handle={handle} onNext={onNext} onChanged={() => (loaded.reload(), onChanged())} />;
}

const no_draft: Draft = { payload: null, saved_at: null };

function TaskForm({ task, draft, handle, onNext, onChanged }: Omit<Props, 'id'> & { task: Task; draft: Draft }) {
  const t = words.value.task;
  const schema = is_object(task.form as Json) ? (task.form as Schema) : null;
  const [value, set_value] = useState<Json | undefined>(() => (draft.saved_at ? (draft.payload as Json) : undefined) ?? (schema ? first_value(schema, schema) : {}));
  const [errors, set_errors] = useState<Map<string, string>>(new Map());
  const [general, set_general] = useState('');
  const [saved, set_saved] = useState(draft.saved_at ?? '');
  const [busy, set_busy] = useState(false);
  const [handing, set_handing] = useState(false);
  const [linking, set_linking] = useState(false);
  const touched = useRef(false);
  const body = useRef<HTMLFormElement>(null);
  const closed = task.status !== 'open' && task.status !== 'assigned';
  const me = act_as.value || user.value;

  useEffect(() => {
    if (!touched.current || closed) return;
    const timer = setTimeout(() => void write_draft(task.id, value).then(set_saved, () => set_saved('')), 800);
    return () => clearTimeout(timer);
  }, [value]);

  const change = (next: Json | undefined) => {
    touched.current = true;
    set_value(next);
    if (errors.size > 0 && schema) set_errors(faults(schema, next, words.value.form));
  };
  const complete = async (next: boolean) => {
    if (busy || closed || !may('work_tasks')) return;
    const found = schema ? faults(schema, value, words.value.form) : new Map<string, string>();
    set_errors(found);
    set_general('');
    if (found.size > 0) {
      body.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
      set_general(t.fix(found.size));
      return;
    }
    set_busy(true);
    try {
      await send('POST', `/v1/tasks/${part(task.id)}/complete`, { payload: filled(value) ?? {} }, { match: task.state_version });
      touched.current = false;
      void drop_draft(task.id);
      const target = next ? onNext(task.id) : undefined;
      toast(target ? t.completed_next(task.title, target.title) : t.completed(task.title), { text: t.show, href: link(`/instances/${part(task.instance)}`) });
      if (!next) onChanged();
      set_busy(false);
    } catch (problem) {
      set_busy(false);
      if (problem instanceof Problem && problem.errors.length > 0) {
        set_errors(new Map(problem.errors.map((one) => [(one.pointer ?? '').replace(/^\/payload/, ''), one.detail])));
      }
      set_general(problem instanceof Problem && problem.status === 412 ? t.changed : reason_of(problem));
      if (problem instanceof Problem && (problem.status === 412 || problem.status === 409)) onChanged();
    }
  };
  const act = async (what: 'assign' | 'release') => {
    try {
      await send('POST', `/v1/tasks/${part(task.id)}/${what}`, {}, { match: task.state_version });
      onChanged();
    } catch (problem) {
      toast(reason_of(problem), undefined, true);
    }
  };
  handle.current = {
    focus: () => body.current?.querySelector<HTMLElement>('input, textarea, select, .code')?.focus(),
    complete: (next) => void complete(next),
    claim: () => void (task.status === 'open' && !closed && may('work_tasks') && act('assign')),
  };
  const due = due_of(task);
  const tone = due_tone(due) ?? 'running';
  const used = due ? Math.max(0, Math.min(100, ((now() - Date.parse(task.created_at)) / Math.max(1, Date.parse(due) - Date.parse(task.created_at))) * 100)) : null;
  const facts = is_object(task.payload as Json) ? Object.entries(task.payload as { [name: string]: Json }) : [];
  const simple = facts.filter(([, one]) => !is_object(one) && !Array.isArray(one) && String(one).length < 60);
  const rest = facts.filter((one) => !simple.includes(one));
  return (
    <div class="col">
      <article class="task">
        <div class="body">
          <div>
            <div class="row">
              <a class="btn is-icon is-quiet narrow-only" href={link('/inbox')} aria-label={t.back}>
                <Icon name="left" />
              </a>
              <h2 class="grow">{task.title}</h2>
              {due && !closed && (
                <span class="sla" data-st={tone} title={exact(due)}>
                  <Icon name="time" />
                  {is_past(due) ? words.value.time.overdue(since(due, 2)) : words.value.time.left(until(due, 2))}
                </span>
              )}
            </div>
            <p class="muted">
              {t.since(moment(task.created_at))} {closed ? t.closed(words.value.task_status[task.status], task.completed_by ?? '') : task.assignee ? (task.assignee === me ? t.yours : t.taken(task.assignee)) : t.not_taken}
            </p>
            {used !== null && !closed && (
              <p class="slabar">
                <svg class="meter" data-st={tone} viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label={t.used(Math.round(used))}>
                  <rect class="bg" width="100" height="4" />
                  <rect class="fg" width={used} height="4" />
                </svg>
              </p>
            )}
          </div>
          {simple.length > 0 && (
            <dl class="readout">
              {simple.map(([name, one]) => (
                <div key={name}>
                  <dt>{label_of(name, {})}</dt>
                  <dd>{typeof one === 'string' ? one : stringify(one)}</dd>
                </div>
              ))}
            </dl>
          )}
          {rest.map(([name, one]) => (
            <div key={name}>
              <h3 class="h3">{label_of(name, {})}</h3>
              <div class="framed padded-y">
                <JsonView value={one} name={name} label={name} />
              </div>
            </div>
          ))}
          {!closed && may('work_tasks') && (
            <form ref={body} class="form" onSubmit={(event) => (event.preventDefault(), void complete(false))} aria-label={task.title}>
              {schema ? <SchemaForm id={`t${task.id.slice(-6)}`} schema={schema} value={value} errors={errors} onChange={change} /> : <p class="muted">{t.no_form}</p>}
              {general && (
                <div class="f">
                  <span class="error" role="alert">
                    <Icon name="suspended" />
                    {general}
                  </span>
                </div>
              )}
            </form>
          )}
        </div>
        {!closed && may('work_tasks') && (
          <div class="actions">
            <button class="btn is-primary" type="button" disabled={busy} onClick={() => void complete(true)}>
              {t.complete_next} <kbd>Ctrl</kbd>
              <kbd>↵</kbd>
            </button>
            <button class="btn" type="button" disabled={busy} onClick={() => void complete(false)}>
              {t.complete}
            </button>
            {task.status === 'open' && (
              <button class="btn is-quiet" type="button" onClick={() => void act('assign')}>
                <Icon name="person" />
                {t.take}
              </button>
            )}
            {task.assignee === me && (
              <button class="btn is-quiet" type="button" onClick={() => void act('release')}>
                {t.give_back}
              </button>
            )}
            <button class="btn is-quiet" type="button" onClick={() => set_handing(true)}>
              <Icon name="users" />
              {t.hand_over}
            </button>
            {may('tasks.manage') && (
              <button class="btn is-quiet" type="button" onClick={() => set_linking(true)}>
                <Icon name="out" />
                {t.send_link}
              </button>
            )}
            <span class="grow" />
            <span class="muted t12 nowrap" aria-live="polite">
              {saved && t.draft(clock_time(saved))}
            </span>
          </div>
        )}
      </article>
      {linking && <LinkDialog task={task} onClose={() => set_linking(false)} />}
      {handing && <HandOver task={task} onClose={() => set_handing(false)} onDone={onChanged} />}
    </div>
  );
}

function HandOver({ task, onClose, onDone }: { task: Task; onClose: () => void; onDone: () => void }) {
  const t = words.value.task;
  const [name, set_name] = useState('');
  const [error, set_error] = useState('');
  const save = async () => {
    try {
      await send('POST', `/v1/tasks/${part(task.id)}/${task.status === 'open' ? 'assign' : 'reassign'}`, { assignee: name.trim() }, { match: task.state_version });
      toast(t.handed(name.trim()));
      onDone();
      onClose();
    } catch (problem) {
      set_error(reason_of(problem));
    }
  };
  return (
    <Dialog
      title={t.hand_over_title(task.title)}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn is-primary" type="submit" disabled={!name.trim()}>
            {t.hand_over}
          </button>
        </>
      }
    >
      <div class="f">
        <label for="hand-to">{t.hand_to}</label>
        <input class="input" id="hand-to" value={name} autocomplete="off" aria-invalid={error ? 'true' : undefined} onInput={(event) => set_name(event.currentTarget.value)} />
        {error && (
          <span class="error" role="alert">
            <Icon name="suspended" />
            {error}
          </span>
        )}
      </div>
    </Dialog>
  );
}
