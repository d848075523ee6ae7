// One instance: the reason first, then diagram and inspector, then timeline, history and state under one cursor.
import { useLocation, useRoute } from 'preact-iso/router';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { part, query } from '../api';
import type { Instance } from '../api_types';
import { link } from '../base_path';
import { curl, shell } from '../commands';
import { title_of_definition } from '../definitions';
import { Diagram, type View } from '../diagram/diagram';
import { TextTree } from '../diagram/text_tree';
import { reference_of } from '../error_groups';
import { write_filter } from '../filter_text';
import { ActionDialog, actions_for, type Action } from '../instance/actions';
import { HistoryList } from '../instance/history_list';
import { Inspector } from '../instance/inspector';
import { load_instance, type InstanceView } from '../instance/load';
import { Timeline } from '../instance/timeline';
import { WhyPanel } from '../instance/why_panel';
import { ended, main_wait, tone_of } from '../instance_status';
import type { Json } from '../json/lossless';
import { useKeys } from '../keys';
import { instance_of, remember } from '../live';
import { neighbours } from '../instance_list';
import { useResource } from '../resource';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { copy_text, Id, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { JsonView } from '../ui/json_view';
import { Menu, type MenuItem } from '../ui/menu';
import { Broken, Loading } from '../ui/states';
import { Status } from '../ui/status';
import { Ago, Moment } from '../ui/when';
import { words } from '../words';

export default function InstancePage() {
  const { params } = useRoute();
  const id = params.id ?? '';
  return <OneInstance key={id} id={id} />;
}

function OneInstance({ id }: { id: string }) {
  const t = words.value.instance;
  const { query: url, route } = useLocation();
  const loaded = useResource<InstanceView>(`instance ${id}`, (signal) => load_instance(id, signal), { live: (event) => instance_of(event) === id, least: 120, poll: 4000, always: true });
  const view = loaded.value;
  const reference = view ? reference_of(view.instance) || short_id(id) : short_id(id);
  const definition = view ? title_of_definition(view.instance.definition) : '';
  useTitle(reference, [{ text: words.value.nav.instances, href: link('/instances') }, ...(view ? [{ text: definition, href: link(`/definitions/${part(view.instance.definition)}`) }] : [])]);
  useEffect(() => {
    if (view) remember(`/instances/${part(id)}`, `${reference}  ${definition}`);
  }, [Boolean(view)]);

  const [action, set_action] = useState<Action | null>(null);
  const [chosen, set_chosen] = useState<number | null>(url.event ? Number(url.event) - 1 : null);
  const [picked, set_picked] = useState<string | null>(null);
  const [mode, set_mode] = useState<View | 'text'>('follow');
  const [tab, set_tab] = useState<'dock' | 'tasks' | 'family' | 'raw'>('dock');
  const [pane, set_pane] = useState<'timeline' | 'history' | 'state'>('timeline');
  const [full, set_full] = useState(false);

  const history = view?.history ?? [];
  const cursor = Math.max(0, Math.min(history.length - 1, chosen ?? history.length - 1));
  const current = view && (main_wait(view.instance.waits)?.step ?? view.instance.error?.step ?? history.findLast((one) => one.step)?.step);
  const step = picked ?? (chosen !== null ? (history[cursor]?.step || current) : current);
  const move = (index: number) => {
    const at = Math.max(0, Math.min(history.length - 1, index));
    set_chosen(at);
    set_picked(null);
    globalThis.history.replaceState(null, '', `${location.pathname}?event=${at + 1}`);
  };
  const select = (next: string) => {
    set_picked(next);
    const last = history.map((one) => one.step).lastIndexOf(next);
    if (last >= 0) set_chosen(last);
  };
  const allowed = view ? actions_for(view.instance) : [];
  const can = (one: Action) => allowed.includes(one) && (one === 'signal' ? may('start') : may('operate'));
  const around = neighbours(id);
  const go = (next: string | undefined) => next && route(link(`/instances/${part(next)}`));
  useKeys({
    ArrowLeft: () => move(cursor - 1),
    ArrowRight: () => move(cursor + 1),
    '[': () => go(around.before),
    ']': () => go(around.after),
    r: () => (can('retry') ? set_action('retry') : can('resume') && set_action('resume')),
    c: () => can('cancel') && set_action('cancel'),
    e: () => can('edit') && set_action('edit'),
    v: () => set_mode(mode === 'text' ? 'follow' : 'text'),
    Escape: () => route(link('/instances')),
  });

  const counts = useMemo(() => undefined, []);
  if (!view) return <main class="main" id="main">{loaded.error ? <Broken error={loaded.error} retry={loaded.reload} /> : <Loading />}</main>;
  const { instance } = view;
  const tone = tone_of(instance);
  const more: MenuItem[] = allowed.filter((one) => can(one) && one !== 'edit').map((one) => ({ text: words.value.actions[one as 'retry'].menu, icon: { retry: 'retrying', skip: 'skip', suspend: 'pause', resume: 'play', cancel: 'stop', signal: 'event', delete: 'x', edit: 'edit' }[one], danger: one === 'cancel' || one === 'delete', run: () => set_action(one) }));
  const copy: MenuItem[] = [
    { text: `cairn show ${short_id(id)}`, icon: 'terminal', run: () => void copy_text(`cairn show ${shell(id)}`) },
    { text: `cairn why ${short_id(id)}`, icon: 'terminal', run: () => void copy_text(`cairn why ${shell(id)}`) },
    ...(can('retry') ? [{ text: `cairn retry ${short_id(id)}`, icon: 'terminal', run: () => void copy_text(`cairn retry ${shell(id)}`) }] : []),
    { text: 'curl GET', icon: 'terminal', run: () => void copy_text(curl('GET', `/v1/instances/${part(id)}`)) },
    ...(can('retry') ? [{ text: 'curl POST retry', icon: 'terminal', run: () => void copy_text(curl('POST', `/v1/instances/${part(id)}/retry`, '{}')) }] : []),
  ];
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{reference}</h1>
        <a class="sub" href={link(`/definitions/${part(instance.definition)}/${part(instance.version)}`)}>
          {definition} {instance.version}
        </a>
        {tone === 'waiting' ? <Status tone="time" word={words.value.status.waiting} pill /> : <Status tone={tone} pill />}
        <span class="muted t12">
          {ended(instance) && instance.ended_at ? (
            <>
              {t.ended} <Ago at={instance.ended_at} />
            </>
          ) : (
            <>
              {t.started} <Moment at={instance.started_at} /> {history[0] && t.by(history[0].actor)}
            </>
          )}
        </span>
        <Id value={id} short />
        {Object.entries((instance.reference?.parts ?? {}) as Record<string, Json>).slice(0, 3).map(([name, value]) => (
          <a key={name} class="chip is-plain" href={link(query('/instances', { q: write_filter([{ name: `part.${name}`, value: String(value) }]) }))} title={t.same_part(name)}>
            <b>{name}</b> {String(value)}
          </a>
        ))}
        <div class="actions">
          <Menu label={t.copy_as} icon="terminal" items={copy} quiet>
            {t.copy_as}
          </Menu>
          {can('edit') && (
            <button class="btn" type="button" onClick={() => set_action('edit')}>
              <Icon name="edit" />
              {words.value.edit.button}
            </button>
          )}
          <Menu label={t.more} icon="more" items={more} keep />
          {(around.before || around.after) && (
            <span class="btns">
              <button class="btn is-icon" type="button" aria-label={t.before} disabled={!around.before} onClick={() => go(around.before)}>
                <Icon name="left" />
              </button>
              <button class="btn is-icon" type="button" aria-label={t.after} disabled={!around.after} onClick={() => go(around.after)}>
                <Icon name="right" />
              </button>
            </span>
          )}
        </div>
      </div>
      <WhyPanel view={view} onAction={set_action} />
      <div class="split">
        <div class="stage">
          {view.svg && view.layout ? (
            <>
              {mode === 'text' ? (
                <TextTree layout={view.layout} looks={view.looks} selected={step} onSelect={select} />
              ) : (
                <Diagram svg={view.svg} layout={view.layout} label={t.diagram(reference)} selected={step} current={current} counts={counts} view={mode} onView={set_mode} onSelect={select} minimap />
              )}
              <div class="tools">
                <div class="seg" role="group" aria-label={t.view}>
                  {(['follow', 'fit', 'text'] as const).map((one) => (
                    <button key={one} type="button" aria-pressed={mode === one} onClick={() => set_mode(one)}>
                      <Icon name={{ follow: 'target', fit: 'fit', text: 'tree' }[one]} size={12} />
                      {t.views[one]}
                    </button>
                  ))}
                </div>
              </div>
            </>
          ) : (
            <p class="muted padded">{t.no_diagram}</p>
          )}
        </div>
        <Inspector view={view} step={step} />
      </div>
      <div class="dockbar">
        <nav class="tabs" aria-label={t.details}>
          {(['dock', 'tasks', 'family', 'raw'] as const).map((one) => (
            <a key={one} href={`#${one}`} aria-current={tab === one ? 'true' : undefined} onClick={(event) => (event.preventDefault(), set_tab(one))}>
              {t.tabs[one]}
              {one === 'tasks' && view.tasks.length > 0 && <span class="n">{view.tasks.length}</span>}
              {one === 'family' && view.children.length > 0 && <span class="n">{view.children.length}</span>}
            </a>
          ))}
        </nav>
        {tab === 'dock' && (
          <>
            <span class="seg narrow-only" role="group" aria-label={t.details}>
              {(['timeline', 'history', 'state'] as const).map((one) => (
                <button key={one} type="button" aria-pressed={pane === one} onClick={() => set_pane(one)}>
                  {t.panes[one]}
                </button>
              ))}
            </span>
            <span class="end">
              <button class="btn is-s is-icon is-quiet" type="button" aria-label={t.event_before} disabled={cursor <= 0} onClick={() => move(cursor - 1)}>
                <Icon name="left" size={12} />
              </button>
              <span>{t.event_of(cursor + 1, history.length)}</span>
              <button class="btn is-s is-icon is-quiet" type="button" aria-label={t.event_after} disabled={cursor >= history.length - 1} onClick={() => move(cursor + 1)}>
                <Icon name="right" size={12} />
              </button>
              <kbd>←</kbd>
              <kbd>→</kbd>
            </span>
          </>
        )}
      </div>
      {tab === 'dock' && (
        <div class="dock" data-pane={pane}>
          <section class="pane" aria-label={t.panes.timeline}>
            <div class="body is-scroll" tabIndex={0}>
              <Timeline view={view} cursor={cursor} onCursor={move} />
            </div>
          </section>
          <section class="pane" aria-label={t.panes.history}>
            <div class="panehead">
              {t.panes.history}
              <span class="end seg" role="group" aria-label={t.panes.history}>
                <button type="button" aria-pressed={!full} onClick={() => set_full(false)}>
                  {t.short}
                </button>
                <button type="button" aria-pressed={full} onClick={() => set_full(true)}>
                  {t.full}
                </button>
              </span>
            </div>
            <div class="body">
              <HistoryList history={history} layout={view.layout} cursor={cursor} onCursor={move} full={full} />
            </div>
          </section>
          <section class="pane" aria-label={t.panes.state}>
            <div class="panehead">
              {t.state_now}
              <span class="end">{instance.status === 'completed' ? t.compared_output : t.state_version(instance.state_version)}</span>
            </div>
            <div class="body is-scroll" tabIndex={0}>
              <JsonView value={(instance.state ?? {}) as Json} name={`${reference}-state`} label={t.state_now} search />
              {instance.output !== undefined && instance.output !== null && (
                <>
                  <div class="panehead">{t.output}</div>
                  <JsonView value={instance.output} name={`${reference}-output`} label={t.output} />
                </>
              )}
            </div>
          </section>
        </div>
      )}
      {tab === 'tasks' && <TaskTable view={view} />}
      {tab === 'family' && <Family instance={instance} items={view.children} />}
      {tab === 'raw' && (
        <div class="dock is-one">
          <div class="body is-scroll" tabIndex={0}>
            <JsonView value={instance as unknown as Json} name={reference} label={t.tabs.raw} />
          </div>
        </div>
      )}
      {action && <ActionDialog action={action} instance={instance} name={reference} onClose={() => set_action(null)} onDone={loaded.reload} />}
    </main>
  );
}

function TaskTable({ view }: { view: InstanceView }) {
  const t = words.value.instance;
  if (view.tasks.length === 0) return <div class="dock is-one"><p class="muted padded">{t.no_tasks}</p></div>;
  return (
    <div class="dock is-one">
      <ul class="list">
        {view.tasks.map((task) => (
          <li key={task.id}>
            <Icon name="person" />
            <span class="grow cut">
              <a href={link(`/inbox/${task.id}`)}>{task.title}</a> <span class="muted">· {task.name}</span>
            </span>
            <span class="muted">{task.completed_by ?? task.assignee ?? words.value.inspector.nobody}</span>
            <span class="muted">{words.value.task_status[task.status]}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Family({ instance, items }: { instance: Instance; items: Instance[] }) {
  const t = words.value.instance;
  return (
    <div class="dock is-one">
      <ul class="list">
        {instance.parent && (
          <li>
            <Icon name="tree" />
            <span class="grow">
              {t.parent} <a href={link(`/instances/${part(instance.parent)}`)}>{short_id(instance.parent)}</a>
            </span>
          </li>
        )}
        {items.map((child) => (
          <li key={child.id}>
            <Icon name="tree" />
            <span class="grow cut">
              <a href={link(`/instances/${part(child.id)}`)}>{reference_of(child) || short_id(child.id)}</a> <span class="muted">· {title_of_definition(child.definition)}</span>
            </span>
            <Status tone={child.status === 'waiting' ? 'time' : child.status} word={words.value.status[child.status]} />
          </li>
        ))}
        {!instance.parent && items.length === 0 && <li class="muted">{t.no_family}</li>}
      </ul>
    </div>
  );
}
