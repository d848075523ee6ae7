// The inbox: a list, the task with its form, and what surrounds it. Works with the keyboard alone.
import { useLocation, useRoute } from 'preact-iso/router';
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, query } from '../api';
import type { Task, TaskPage } from '../api_types';
import { link } from '../base_path';
import { TaskContext } from '../inbox/task_context';
import { TaskPane, type TaskHandle } from '../inbox/task_pane';
import { reference_of } from '../error_groups';
import { due_of } from '../instance_status';
import { useKeys } from '../keys';
import { useResource } from '../resource';
import { act_as, setting } from '../settings';
import { user } from '../session';
import { useTitle } from '../shell/crumbs';
import { Icon } from '../ui/icon';
import { Broken, Empty, Loading } from '../ui/states';
import { Due } from '../ui/when';
import { is_past, moment, words } from '../words';
import { now } from '../clock';

type Tab = 'all' | 'mine' | 'open' | 'done';
const tabs: Tab[] = ['all', 'mine', 'open', 'done'];
const by_due = setting<boolean>('inbox_by_due', true);

const load = (tab: Tab, text: string, signal: AbortSignal): Promise<TaskPage> => {
  const me = act_as.value || user.value;
  const values: Record<string, string | number | boolean | undefined> = { limit: 200, filter: text || undefined };
  if (tab === 'done') Object.assign(values, { status: 'completed' });
  else Object.assign(values, { mine: true });
  if (tab === 'mine') Object.assign(values, { mine: undefined, assignee: me });
  if (tab === 'open') values.status = 'open';
  return get<TaskPage>(query('/v1/tasks', values), signal);
};

export const due_tone = (due: string | undefined): 'suspended' | 'person' | undefined => (!due ? undefined : is_past(due) || Date.parse(due) - now() < 3_600_000 ? 'suspended' : Date.parse(due) - now() < 86_400_000 ? 'person' : undefined);

export default function InboxPage() {
  const t = words.value.inbox;
  const { params } = useRoute();
  const { query: url, route } = useLocation();
  useTitle(words.value.nav.inbox);
  const tab: Tab = (url.tab as Tab) ?? 'all';
  const [text, set_text] = useState('');
  const [searching, set_searching] = useState(false);
  const [changes, set_changes] = useState(0);
  const list = useResource(`tasks ${tab} ${text} ${act_as.value}`, (signal) => load(tab, text, signal), { live: (event) => event.type.startsWith('cairn.task.'), least: 400 });
  const handle = useRef<TaskHandle | null>(null);
  const rows = [...(list.value?.items ?? [])].sort((a, b) => (by_due.value ? (due_of(a) ?? '9').localeCompare(due_of(b) ?? '9') || (b.priority ?? 0) - (a.priority ?? 0) : b.created_at.localeCompare(a.created_at)));
  const id = params.id;
  const at = rows.findIndex((row) => row.id === id);
  const narrow = matchMedia('(max-width: 720px)').matches;
  const open_row = (row: Task | undefined) => row && route(link(`/inbox/${row.id}${tab === 'all' ? '' : `?tab=${tab}`}`), true);
  useEffect(() => {
    if (!id && rows.length > 0 && !narrow) open_row(rows[0]);
  }, [id, rows.length]);
  const next = (done: string) => {
    const rest = rows.filter((row) => row.id !== done);
    const target = rest[Math.min(Math.max(0, at), rest.length - 1)];
    list.reload();
    if (target) open_row(target);
    else route(link('/inbox'), true);
    return target;
  };
  const step = (by: number) => open_row(rows[Math.max(0, Math.min(rows.length - 1, at + by))]);
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    '/': () => set_searching(true),
    Enter: () => handle.current?.focus(),
    o: () => handle.current?.focus(),
    a: () => handle.current?.claim(),
    'Ctrl+Enter': () => handle.current?.complete(true),
    Escape: () => narrow && id && route(link('/inbox')),
  });
  const late = rows.filter((row) => { const due = due_of(row); return due && is_past(due); }).length;
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{words.value.nav.inbox}</h1>
        <span class="sub" aria-live="polite">
          {list.value && t.sub(rows.length, late)}
        </span>
        <div class="actions">
          <button class="btn is-quiet" type="button" aria-expanded={searching} onClick={() => set_searching(!searching)}>
            <Icon name="filter" />
            {t.filter}
          </button>
          <button class="btn" type="button" onClick={() => (by_due.value = !by_due.value)}>
            <Icon name="sort" />
            {by_due.value ? t.by_due : t.newest}
          </button>
        </div>
      </div>
      {searching && (
        <div class="filter">
          <Icon name="filter" />
          <input class="field" autofocus aria-label={t.filter} placeholder="role:underwriter ref:L-1047" onChange={(event) => set_text(event.currentTarget.value)} />
        </div>
      )}
      <nav class="tabs" aria-label={t.which}>
        {tabs.map((one) => (
          <a key={one} href={link(one === 'all' ? '/inbox' : `/inbox?tab=${one}`)} aria-current={tab === one ? 'page' : undefined}>
            {t.tabs[one]}
            {tab === one && list.value && <span class="n">{rows.length}</span>}
          </a>
        ))}
        <span class="end">
          <span class="muted t12">{t.next_previous}</span>
          <kbd>J</kbd>
          <kbd>K</kbd>
        </span>
      </nav>
      {list.error && !list.value ? (
        <Broken error={list.error} retry={list.reload} />
      ) : !list.value ? (
        <Loading />
      ) : rows.length === 0 && !id ? (
        <Empty icon="inbox" title={t.empty[tab]}>
          <p>{t.empty_text}</p>
        </Empty>
      ) : (
        <div class="inbox" data-open={id ? '' : undefined}>
          <div class="col list-col" tabIndex={0} role="region" aria-label={t.list}>
            <div class="tasklist">
              {rows.map((row) => (
                <Row key={row.id} row={row} here={row.id === id} tab={tab} />
              ))}
            </div>
          </div>
          {id ? <TaskPane key={id} id={id} handle={handle} onNext={next} onChanged={() => (list.reload(), set_changes(changes + 1))} /> : <div class="col" />}
          {id ? <TaskContext key={`c${id}`} id={id} changes={changes} /> : <div class="col side" />}
        </div>
      )}
    </main>
  );
}

function Row({ row, here, tab }: { row: Task; here: boolean; tab: Tab }) {
  const t = words.value.inbox;
  const due = due_of(row);
  const tone = row.status === 'completed' ? undefined : due_tone(due);
  const ref = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (here) ref.current?.scrollIntoView({ block: 'nearest' });
  }, [here]);
  const me = act_as.value || user.value;
  return (
    <a ref={ref} href={link(`/inbox/${row.id}${tab === 'all' ? '' : `?tab=${tab}`}`)} aria-current={here ? 'true' : undefined} data-st={tone}>
      <span class="edge" />
      <span class="ti cut">{row.title}</span>
      <span class="due">
        {tone && <Icon name="time" />}
        {row.status === 'completed' ? (row.completed_at ? moment(row.completed_at) : '') : due ? Date.parse(due) - now() < 86_400_000 ? <Due at={due} /> : moment(due) : t.no_limit}
      </span>
      <span class="wf cut">{[row.name, row.reference && reference_of({ id: '', reference: row.reference })].filter(Boolean).join(' · ')}</span>
      <span class="who">{row.status === 'completed' ? row.completed_by : row.assignee ? (row.assignee === me ? t.you : row.assignee) : (row.roles.join(', ') || t.anybody)}</span>
    </a>
  );
}
