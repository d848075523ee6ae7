// Beside the form: where the task sits, what is known about it, comments.
import { useEffect, useState } from 'preact/hooks';
import { get, get_text, part, query, send } from '../api';
import type { Instance, Task } from '../api_types';
import { link } from '../base_path';
import { curl } from '../commands';
import { title_of_definition } from '../definitions';
import { Diagram } from '../diagram/diagram';
import type { Layout } from '../diagram/layout';
import { read_svg, step_looks, type Mark } from '../diagram/svg_reader';
import { reference_of } from '../error_groups';
import { due_of } from '../instance_status';
import type { Json } from '../json/lossless';
import { useResource } from '../resource';
import { may } from '../session';
import { initials } from '../shell/bar';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { CopyButton, short_id } from '../ui/copy';
import { toast } from '../ui/toast';
import { Moment } from '../ui/when';
import { moment, words } from '../words';

interface TaskEvent {
  actor: string;
  at: string;
  event: string;
  details: Json;
}

interface Context {
  task: Task;
  instance: Instance | null;
  events: TaskEvent[];
  svg: Mark | null;
  layout: Layout | null;
}

interface EventPage {
  items: TaskEvent[];
  next_cursor?: string | null;
}
const events_most = 2000;
async function load_events(id: string, signal: AbortSignal): Promise<TaskEvent[]> {
  const all: TaskEvent[] = [];
  let cursor: string | null | undefined;
  do {
    const page: EventPage = await get<EventPage>(query(`/v1/tasks/${part(id)}/events`, { limit: 200, cursor }), signal);
    all.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && all.length < events_most);
  return all;
}

async function load(id: string, signal: AbortSignal): Promise<Context> {
  const task = await get<Task>(`/v1/tasks/${part(id)}`, signal);
  const events = await load_events(id, signal);
  if (!may('view')) return { task, events, instance: null, svg: null, layout: null };
  const at = `/v1/instances/${part(task.instance)}`;
  const [instance, svg, layout] = await Promise.all([
    get<Instance>(at, signal).catch(() => null),
    get_text(query(`${at}/diagram`, { format: 'svg', theme: 'tokens' }), signal).then(read_svg, () => null),
    get<unknown>(query(`${at}/diagram`, { format: 'json' }), signal).then((one) => one as Layout, () => null),
  ]);
  return { task, events, instance, svg, layout };
}

export function TaskContext({ id, changes }: { id: string; changes: number }) {
  const t = words.value.context;
  const loaded = useResource(`context ${id}`, (signal) => load(id, signal), { live: (event) => event.type.startsWith('cairn.task.'), least: 600 });
  useEffect(() => {
    if (changes) loaded.reload();
  }, [changes]);
  const data = loaded.value;
  return (
    <aside class="col side" aria-label={t.label}>
      {data && (
        <>
          {data.svg && data.layout && (
            <div>
              <h3>{t.where}</h3>
              <div class="mini">
                <Diagram svg={data.svg} layout={data.layout} label={t.where_label(data.layout.title ?? data.layout.name)} selected={data.task.step} still />
              </div>
              <Trail data={data} />
            </div>
          )}
          <div>
            <h3>{t.about}</h3>
            <dl class="facts">
              {data.instance && (
                <>
                  <dt>{t.workflow}</dt>
                  <dd>
                    <a href={link(`/instances/${part(data.task.instance)}`)}>
                      {title_of_definition(data.instance.definition)}, {reference_of(data.instance) || short_id(data.instance.id)}
                    </a>
                  </dd>
                </>
              )}
              <dt>{t.for}</dt>
              <dd>{data.task.roles.join(', ') || words.value.inbox.anybody}</dd>
              {data.task.exclude && data.task.exclude.length > 0 && (
                <>
                  <dt>{words.value.inspector.not}</dt>
                  <dd>{data.task.exclude.join(', ')}</dd>
                </>
              )}
              <dt>{t.taken_by}</dt>
              <dd>{data.task.assignee ?? words.value.inspector.nobody}</dd>
              {(data.task.priority ?? 0) !== 0 && (
                <>
                  <dt>{t.priority}</dt>
                  <dd>{data.task.priority}</dd>
                </>
              )}
              {due_of(data.task) && (
                <>
                  <dt>{t.due}</dt>
                  <dd>
                    <Moment at={due_of(data.task)!} />
                  </dd>
                </>
              )}
            </dl>
            <p class="row">
              <span class="muted t12">{words.value.bulk.same_as}</span>
              <CopyButton text={`cairn task complete ${data.task.id} --payload '{…}'`} label={words.value.common.copy_command} />
              <span class="mono t12">cairn</span>
              <CopyButton text={curl('POST', `/v1/tasks/${part(data.task.id)}/complete`, '{"payload":{}}')} label={words.value.instances.copy_curl} />
              <span class="mono t12">curl</span>
            </p>
          </div>
          <Comments task={data.task} events={data.events} onSent={loaded.reload} />
        </>
      )}
    </aside>
  );
}

function Trail({ data }: { data: Context }) {
  const looks = data.svg ? step_looks(data.svg) : new Map();
  const steps = data.layout!.rows.filter((row) => row.depth <= 2 && row.node !== undefined).map((row) => data.layout!.nodes[row.node!]!).filter((node) => node.step);
  const here = steps.findIndex((node) => node.step === data.task.step);
  const done = steps.slice(0, Math.max(0, here)).filter((node) => looks.get(node.step!)?.state === 'done').slice(-3);
  return (
    <ul class="trail">
      {done.map((node) => (
        <li key={node.step} data-st="completed">
          <Icon name="completed" />
          <span class="cut">{node.text}</span>
        </li>
      ))}
      {here >= 0 && (
        <li class="is-here" data-st="person">
          <Icon name="person" />
          <span class="cut">{steps[here]!.text}</span>
        </li>
      )}
    </ul>
  );
}

function Comments({ task, events, onSent }: { task: Task; events: TaskEvent[]; onSent: () => void }) {
  const t = words.value.context;
  const [text, set_text] = useState('');
  const notes = events.filter((one) => one.event === 'commented' || one.event === 'comment');
  const others = events.filter((one) => !notes.includes(one));
  const save = async (event: Event) => {
    event.preventDefault();
    if (!text.trim()) return;
    try {
      await send('POST', `/v1/tasks/${part(task.id)}/comment`, { comment: text.trim() });
      set_text('');
      onSent();
    } catch (problem) {
      toast(reason_of(problem), undefined, true);
    }
  };
  const words_of = (details: Json): string => {
    const one = details as { comment?: string; text?: string } | null;
    return one?.comment ?? one?.text ?? '';
  };
  return (
    <div>
      <h3>{t.comments}</h3>
      {notes.map((one, at) => (
        <div class="note" key={at}>
          <span class="avatar is-s" aria-hidden="true">
            {initials(one.actor)}
          </span>
          <div>
            <p>{words_of(one.details)}</p>
            <span class="by">
              {one.actor}, {moment(one.at)}
            </span>
          </div>
        </div>
      ))}
      {may('work_tasks') && (
        <form class="commentform" onSubmit={save}>
          <label class="vh" for="comment">
            {t.add}
          </label>
          <textarea class="input" id="comment" rows={2} placeholder={t.add} value={text} onInput={(event) => set_text(event.currentTarget.value)} />
          <button class="btn is-s" type="submit" disabled={!text.trim()}>
            {t.send}
          </button>
        </form>
      )}
      <ul class="trail">
        {others.map((one, at) => (
          <li key={at}>
            <Icon name="start" />
            <span class="cut">
              {t.events[one.event as keyof typeof t.events] ?? one.event}, {one.actor}, {moment(one.at)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
