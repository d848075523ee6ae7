// <cairn-inbox server="https://cairn.example" token="…"></cairn-inbox>: the tasks of one person, and their forms.
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Task, TaskPage } from '../api_types';
import { decision_of, type Choice } from '../approve/decision';
import { Facts } from '../approve/facts';
import { faults, filled, first_value, type Schema } from '../form/model';
import { SchemaForm } from '../form/schema_form';
import { due_of } from '../instance_status';
import { is_object, type Json, type JsonObject } from '../json/lossless';
import { Icon } from '../ui/icon';
import { exact, is_past, moment, since, until, words } from '../words';
import { Refused, type Client } from './client';
import { CairnElement } from './element';

export class InboxElement extends CairnElement {
  private tasks: Task[] | null = null;
  private error: unknown = null;

  protected async load(signal: AbortSignal): Promise<void> {
    this.tasks = (await this.client.get<TaskPage>('/v1/tasks?mine=true&limit=50', signal)).items;
    this.error = null;
    this.draw();
  }
  protected show_error(error: unknown): void {
    this.error = error;
    this.draw();
  }
  private draw(): void {
    const done = (task: Task) => {
      this.tasks = (this.tasks ?? []).filter((one) => one.id !== task.id);
      this.tell('cairn-completed', { task: task.id, instance: task.instance });
      this.again();
    };
    render(<Inbox tasks={this.tasks} error={this.error} client={this.client} onDone={done} />, this.place);
  }
}

function Inbox({ tasks, error, client, onDone }: { tasks: Task[] | null; error: unknown; client: Client; onDone: (task: Task) => void }) {
  const t = words.value.embed;
  const [open, set_open] = useState<string | null>(null);
  const chosen = tasks?.find((one) => one.id === open);
  if (!tasks) return <p class="muted" role="status">{error ? (error instanceof Refused && error.status === 401 ? t.expired : t.away) : t.loading}</p>;
  if (chosen) return <Answer key={chosen.id} task={chosen} client={client} onBack={() => set_open(null)} onDone={() => (set_open(tasks[tasks.indexOf(chosen) + 1]?.id ?? null), onDone(chosen))} />;
  if (tasks.length === 0) {
    return (
      <p class="calm" role="status">
        <Icon name="completed" />
        {t.nothing}
      </p>
    );
  }
  return (
    <ul class="list is-framed" aria-label={words.value.inbox.list}>
      {tasks.map((task) => {
        const due = due_of(task);
        return (
          <li key={task.id}>
            <button class="linklike grow cut" type="button" onClick={() => set_open(task.id)}>
              {task.title}
            </button>
            <span class={due && is_past(due) ? 'late nowrap' : 'muted nowrap'} title={due && exact(due)}>
              {due ? (is_past(due) ? words.value.time.overdue(since(due)) : words.value.time.left(until(due, 1))) : moment(task.created_at)}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Answer({ task, client, onBack, onDone }: { task: Task; client: Client; onBack: () => void; onDone: () => void }) {
  const t = words.value.embed;
  const a = words.value.approve;
  const schema = is_object(task.form as Json) ? (task.form as Schema) : null;
  const decision = useMemo(() => (schema ? decision_of(schema, a) : null), [schema, a]);
  const form = decision ? decision.rest : schema;
  const [value, set_value] = useState<Json | undefined>(() => (form ? first_value(form, form) : {}));
  const [errors, set_errors] = useState<Map<string, string>>(new Map());
  const [problem, set_problem] = useState('');
  const [busy, set_busy] = useState(false);
  useEffect(() => set_problem(''), [value]);
  const give = async (choice: Choice | null) => {
    const answer = { ...(filled(value) as JsonObject | undefined), ...(decision && choice ? { [decision.name]: choice.value } : {}) };
    const found = schema ? faults(schema, answer, words.value.form) : new Map<string, string>();
    set_errors(found);
    if (found.size > 0) return set_problem(a.fix);
    set_busy(true);
    try {
      await client.send('POST', `/v1/tasks/${encodeURIComponent(task.id)}/complete`, { payload: answer }, task.state_version);
      onDone();
    } catch (error) {
      set_busy(false);
      if (error instanceof Refused && error.errors.length > 0) set_errors(new Map(error.errors.map((one) => [(one.pointer ?? '').replace(/^\/payload/, ''), one.detail])));
      set_problem(error instanceof Refused ? a.not_taken(error.message) : t.away);
    }
  };
  const fields = form && is_object(form.properties) && Object.keys(form.properties).length > 0;
  return (
    <article class="answer">
      <button class="linklike" type="button" onClick={onBack}>
        <Icon name="left" />
        {words.value.task.back}
      </button>
      <h2>{task.title}</h2>
      <Facts payload={task.payload as Json} />
      {fields && (
        <form class="form" aria-label={task.title} onSubmit={(event) => event.preventDefault()}>
          <SchemaForm id="e" schema={form!} value={value} errors={errors} onChange={set_value} />
        </form>
      )}
      {problem && (
        <p class="error" role="alert">
          <Icon name="suspended" />
          {problem}
        </p>
      )}
      <div class="row">
        {decision ? (
          decision.choices.map((one) => (
            <button key={one.title} class={one.yes ? 'btn is-primary' : 'btn'} type="button" disabled={busy} onClick={() => void give(one)}>
              {one.title}
            </button>
          ))
        ) : (
          <button class="btn is-primary" type="button" disabled={busy} onClick={() => void give(null)}>
            {words.value.task.complete}
          </button>
        )}
      </div>
    </article>
  );
}
