// What needs attention, first.
import { useState } from 'preact/hooks';
import { get, part, query } from '../api';
import type { AuditRow, Instance, InstancePage, Task, TaskPage } from '../api_types';
import { link } from '../base_path';
import { now } from '../clock';
import { definitions, load_definitions } from '../definitions';
import { reference_of, useErrors } from '../error_groups';
import { last_audit_rows } from '../last_rows';
import { useFigures } from '../figures';
import { ErrorRows } from '../home/error_rows';
import { FirstSteps } from '../home/first_steps';
import { due_of } from '../instance_status';
import { useResource } from '../resource';
import { may, session } from '../session';
import { useTitle } from '../shell/crumbs';
import { Icon } from '../ui/icon';
import { Broken, Loading } from '../ui/states';
import { buckets, Lines } from '../ui/spark';
import { Due } from '../ui/when';
import { clock_time, count, is_past, lasting, moment, since, words } from '../words';

const hour = 3_600_000;
const ranges = { '1h': hour, '24h': 24 * hour, '7d': 7 * 24 * hour } as const;
type Range = keyof typeof ranges;

interface Found {
  suspended: Instance[];
  recent: Instance[];
  recent_more: boolean;
  running: number;
  running_more: boolean;
  overdue: Task[];
  urgent: Task[];
  audit: AuditRow[];
}

async function load(range: Range, signal: AbortSignal): Promise<Found> {
  const from = new Date(now() - ranges[range]).toISOString();
  const list = (values: Record<string, string | number>) => get<InstancePage>(query('/v1/instances', values), signal);
  const tasks = (values: Record<string, string | number | boolean>) => (may('view_tasks') ? get<TaskPage>(query('/v1/tasks', values), signal) : Promise.resolve({ items: [] as Task[] }));
  const [suspended, recent, running, overdue, urgent, audit] = await Promise.all([
    list({ status: 'suspended', limit: 1 }),
    list({ from, limit: 200 }),
    list({ status: 'running', limit: 200 }),
    tasks({ overdue: true, limit: 50 }),
    tasks({ limit: 20 }),
    may('administer') ? last_audit(signal) : [],
  ]);
  await load_definitions();
  return {
    suspended: suspended.items, recent: recent.items, recent_more: Boolean(recent.next_cursor),
    running: running.items.length, running_more: Boolean(running.next_cursor), overdue: overdue.items, urgent: urgent.items, audit,
  };
}

async function last_audit(signal: AbortSignal): Promise<AuditRow[]> {
  const dull = new Set(['startInstance', 'sendSignal', 'signalInstance', 'receiveEvents', 'submitRun', 'assignTask']);
  return (await last_audit_rows(signal)).filter((row) => !dull.has(row.what)).slice(-5).reverse();
}

export default function HomePage() {
  const t = words.value.home;
  useTitle(words.value.nav.home);
  const [range, set_range] = useState<Range>('24h');
  const found = useResource(`home ${range}`, (signal) => load(range, signal), { live: (event) => event.type.startsWith('cairn.'), least: 3000, poll: 15000 });
  const figures = useFigures().value;
  const errors = useErrors(range);
  const groups = errors.value?.items ?? [];
  const retrying = groups.filter((group) => group.status === 'retrying').reduce((sum, group) => sum + group.count, 0);
  if (!found.value) return <main class="main" id="main">{found.error ? <Broken error={found.error} retry={found.reload} /> : <Loading />}</main>;
  const data = found.value;
  if (data.recent.length === 0 && data.suspended.length === 0 && !figures?.get('cairn_tasks_open') && session.value) return <FirstSteps />;
  const stopped = groups.filter((group) => group.status === 'suspended').length;
  const headline = stopped > 0 ? t.needs(stopped) : data.overdue.length > 0 ? t.late(data.overdue.length) : retrying ? t.retry_only : t.calm;
  const times = (key: 'started_at' | 'ended_at') => data.recent.flatMap((one) => (one[key] ? [Date.parse(one[key])] : []));
  const to = now();
  const started = buckets(times('started_at'), to - ranges[range], to, 24);
  const finished = buckets(times('ended_at'), to - ranges[range], to, 24);
  const tick = (share: number) => { const at = new Date(to - ranges[range] * share).toISOString(); return range === '7d' ? moment(at).replace(/ \d\d:\d\d$/, '') : clock_time(at); };
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{headline}</h1>
        <div class="actions">
          <div class="seg" role="group" aria-label={t.range}>
            {(Object.keys(ranges) as Range[]).map((one) => (
              <button key={one} type="button" aria-pressed={range === one} onClick={() => set_range(one)}>
                {t.ranges[one]}
              </button>
            ))}
          </div>
          {may('start') && (
            <a class="btn is-primary is-keep" href={link('/start')}>
              <Icon name="plus" />
              {words.value.start.button}
            </a>
          )}
        </div>
      </div>
      <div class="pad">
        <Tiles data={data} retrying={retrying} figures={figures} />
        <div class="home">
          <div class="col">
            <section class="card">
              <div class="top">
                <h2>{t.attention}</h2>
                <span class="muted t12">{t.one_row}</span>
                <a class="more" href={link('/errors')}>
                  {t.all_errors(count(groups.length))}
                </a>
              </div>
              {errors.value && groups.length === 0 ? (
                <p class="calm">
                  <Icon name="completed" />
                  {t.nothing_wrong}
                </p>
              ) : (
                <ErrorRows groups={groups.slice(0, 8)} onDone={() => (found.reload(), errors.reload())} />
              )}
            </section>
            {may('view_tasks') && <Waiting tasks={data.urgent} />}
          </div>
          <div class="col">
            <section class="card">
              <div class="top">
                <h2>{t.throughput}</h2>
                <span class="more muted">{t.started_finished(count(times('started_at').length) + (data.recent_more ? '+' : ''), count(times('ended_at').length))}</span>
              </div>
              <div class="in">
                <Lines one={started} two={finished} label={t.chart} ticks={[tick(1), tick(0.5), t.now]} unit={t.per(lasting(ranges[range] / 24, 1))} />
                <div class="legend">
                  <span>
                    <svg viewBox="0 0 16 6" aria-hidden="true" class="chart">
                      <path class="l1" d="M0 3H16" />
                    </svg>
                    {t.started}
                  </span>
                  <span>
                    <svg viewBox="0 0 16 6" aria-hidden="true" class="chart">
                      <path class="l2" d="M0 3H16" />
                    </svg>
                    {t.finished}
                  </span>
                </div>
              </div>
            </section>
            {data.overdue.length > 0 && (
              <section class="card">
                <div class="top">
                  <h2>{t.out_of_time}</h2>
                  <a class="more" href={link('/inbox')}>
                    {words.value.nav.inbox}
                  </a>
                </div>
                <ul class="list">
                  {data.overdue.slice(0, 5).map((task) => (
                    <li key={task.id}>
                      <span class="grow cut">
                        <a class="plainlink strong" href={link(`/inbox/${task.id}`)}>
                          {task.title}
                        </a>
                        <br />
                        <span class="muted t12">{task.assignee ?? (task.roles.join(', ') || words.value.inspector.nobody)}</span>
                      </span>
                      <span class="sla" data-st="suspended">
                        <Icon name="time" />
                        <Due at={due_of(task)!} />
                      </span>
                    </li>
                  ))}
                </ul>
              </section>
            )}
            <Changes audit={data.audit} />
          </div>
        </div>
      </div>
    </main>
  );
}

function Tiles({ data, retrying, figures }: { data: Found; retrying: number; figures: Map<string, number> | undefined }) {
  const t = words.value.home.tiles;
  const figure = (name: string) => figures?.get(name) ?? 0;
  const number = (value: number, more = false) => count(value) + (more ? '+' : '');
  const suspended = Math.max(figure('cairn_instances_suspended'), data.suspended.length);
  const ready_age = figure('cairn_runs_ready_age_seconds');
  const tile = (href: string, tone: string, icon: string, title: string, big: string, note: string, hot: boolean) => (
    <a class="tile" href={link(href)} data-st={tone}>
      <span class="st" data-st={tone}>
        <Icon name={icon} />
        {title}
      </span>
      <span class="big">{big}</span>
      <span class={hot ? 'note is-hot' : 'note'}>{note}</span>
    </a>
  );
  return (
    <div class="tiles">
      {tile('/instances?q=status:running', 'running', 'running', t.running, number(data.running, data.running_more), t.started(count(data.recent.filter((one) => Date.parse(one.started_at) > now() - 60000).length)), false)}
      {tile('/inbox', 'person', 'person', t.people, number(Math.max(figure('cairn_tasks_open'), data.urgent.length)), data.overdue.length ? t.overdue(count(data.overdue.length)) : t.none_overdue, data.overdue.length > 0)}
      {tile('/instances?q=status:retrying', 'retrying', 'retrying', t.retrying, number(retrying), t.by_itself, false)}
      {tile('/instances?q=status:suspended', 'suspended', 'suspended', t.suspended, number(suspended), suspended ? t.need_you : t.need_nobody, suspended > 0)}
      {tile('/dead-letters', 'suspended', 'letters', t.dead, number(figure('cairn_dead_letters')), figure('cairn_dead_letters') ? t.look : t.all_delivered, figure('cairn_dead_letters') > 0)}
      {tile('/runs', 'cancelled', 'workers', t.ready, number(figure('cairn_runs_ready')), ready_age > 5 ? t.oldest(lasting(ready_age * 1000, 1)) : t.taken_at_once, ready_age > 60)}
    </div>
  );
}

function Waiting({ tasks }: { tasks: Task[] }) {
  const t = words.value.home;
  return (
    <section class="card">
      <div class="top">
        <h2>{t.waiting_longest}</h2>
        <span class="muted t12">{t.people_first}</span>
        <a class="more" href={link('/inbox')}>
          {words.value.nav.inbox}
        </a>
      </div>
      {tasks.length === 0 ? (
        <p class="calm">
          <Icon name="completed" />
          {t.nobody_waits}
        </p>
      ) : (
        <ul class="list">
          {tasks.slice(0, 6).map((task) => {
            const due = due_of(task);
            const late = due && is_past(due);
            return (
              <li key={task.id}>
                <Icon name="person" />
                <span class="grow cut">
                  <a class="plainlink" href={link(`/inbox/${task.id}`)}>
                    <strong>{reference_of({ id: task.instance, reference: task.reference! })}</strong> {task.title}
                  </a>
                  <span class="muted">{task.assignee ? ` · ${task.assignee}` : ` · ${t.nobody_took}`}</span>
                </span>
                {due ? (
                  <span class="st" data-st={late ? 'suspended' : 'person'}>
                    <Due at={due} />
                  </span>
                ) : (
                  <span class="muted">{t.for_no_limit(since(task.created_at))}</span>
                )}
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

function Changes({ audit }: { audit: AuditRow[] }) {
  const t = words.value.home;
  const newest = [...definitions.value].sort((a, b) => (a.deployed_at < b.deployed_at ? 1 : -1)).slice(0, 3);
  return (
    <section class="card">
      <div class="top">
        <h2>{t.changed}</h2>
        {may('administer') && (
          <a class="more" href={link('/audit')}>
            {words.value.nav.audit}
          </a>
        )}
      </div>
      <ul class="list">
        {audit.map((row) => (
          <li key={row.sequence}>
            <Icon name="audit" />
            <span class="grow cut">
              {words.value.audit.what[row.what as keyof typeof words.value.audit.what] ?? row.what}
              <br />
              <span class="muted t12">
                {row.who}, {moment(row.at)}
              </span>
            </span>
          </li>
        ))}
        {audit.length === 0 &&
          newest.map((one) => (
            <li key={one.name + one.version}>
              <Icon name="definitions" />
              <span class="grow cut">
                <a class="plainlink" href={link(`/definitions/${part(one.name)}`)}>
                  {one.title ?? one.name} <strong>{one.version}</strong>
                </a>
                <br />
                <span class="muted t12">{t.deployed(moment(one.deployed_at))}</span>
              </span>
            </li>
          ))}
      </ul>
    </section>
  );
}
