// Ctrl K: paste any id, find a reference, go to a page, run a command.
import { useLocation } from 'preact-iso/router';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, part, query, Problem } from '../api';
import type { Instance, InstancePage, Run, Task } from '../api_types';
import { link } from '../base_path';
import { definitions, names, title_of_definition } from '../definitions';
import { reference_of } from '../error_groups';
import { recent } from '../live';
import { may } from '../session';
import { language, live_on, other_theme, zone } from '../settings';
import { Icon } from '../ui/icon';
import { short_id } from '../ui/copy';
import { words } from '../words';
import { take_letters } from './typed_ahead';

interface Entry {
  group: string;
  icon: string;
  text: string;
  note?: string;
  run: () => void;
}

async function maybe<T>(path: string): Promise<T | null> {
  try {
    return await get<T>(path);
  } catch (error) {
    if (error instanceof Problem) return null;
    throw error;
  }
}

async function find(text: string): Promise<{ instances: Instance[]; task: Task | null; run: Run | null }> {
  const id = /^[\w.~:-]{8,200}$/.test(text);
  const [page, instance, task, run] = await Promise.all([
    maybe<InstancePage>(query('/v1/instances', { q: text, limit: 6 })),
    id ? maybe<Instance>(`/v1/instances/${part(text)}`) : null,
    id && may('view_tasks') && /^[0-9a-f-]{36}$/.test(text) ? maybe<Task>(`/v1/tasks/${part(text)}`) : null,
    id && /^[0-9a-f-]{36}$/.test(text) ? maybe<Run>(`/v1/runs/${part(text)}`) : null,
  ]);
  const instances = page?.items ?? [];
  if (instance && !instances.some((one) => one.id === instance.id)) instances.unshift(instance);
  return { instances, task, run };
}

export function Palette({ onClose }: { onClose: () => void }) {
  const t = words.value.palette;
  const nav = words.value.nav;
  const { route } = useLocation();
  const [text, set_text] = useState('');
  const [at, set_at] = useState(0);
  const [found, set_found] = useState<Entry[]>([]);
  const ref = useRef<HTMLDialogElement>(null);
  const to = (path: string) => () => route(link(path));

  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const dialog = ref.current!;
    if (!dialog.open) dialog.showModal();
    const field = dialog.querySelector('input')!;
    field.focus();
    // Now, not with the next rendering: the next letter is added to what the field has.
    field.value = take_letters();
    set_text(field.value);
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted.length < 2 || !may('view')) {
      set_found([]);
      return;
    }
    let over = false;
    const timer = setTimeout(() => {
      void find(wanted).then(({ instances, task, run }) => {
        if (over) return;
        const entries: Entry[] = instances.map((one) => ({
          group: t.found, icon: one.status === 'waiting' ? 'time' : one.status, text: `${reference_of(one) || short_id(one.id)}  ${title_of_definition(one.definition)}`, note: words.value.status[one.status], run: to(`/instances/${part(one.id)}`),
        }));
        if (task) entries.unshift({ group: t.found, icon: 'person', text: task.title, note: t.task, run: to(`/inbox/${task.id}`) });
        if (run?.instance) entries.unshift({ group: t.found, icon: 'call', text: run.type, note: t.run, run: to(`/instances/${part(run.instance)}`) });
        set_found(entries);
        set_at(0);
      }, () => {});
    }, 180);
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [text]);

  const fixed = useMemo<Entry[]>(() => {
    const goto: [string, string, string, boolean][] = [
      ['/', 'home', nav.home, may('view')], ['/instances', 'instances', nav.instances, may('view')], ['/inbox', 'inbox', nav.inbox, may('view_tasks')],
      ['/definitions', 'definitions', nav.definitions, may('view')], ['/schedules', 'schedules', nav.schedules, may('view')], ['/runs', 'workers', nav.runs, may('view')],
      ['/errors', 'suspended', nav.errors, may('view')], ['/alerts', 'bell', nav.alerts, may('view')], ['/batches', 'batches', nav.batches, may('operate')], ['/dead-letters', 'letters', nav.dead_letters, may('view')], ['/events', 'stream', nav.events, may('view')], ['/audit', 'audit', nav.audit, may('administer')],
      ['/keys', 'key', nav.keys, may('administer')], ['/system', 'system', nav.system, true],
    ];
    const entries: Entry[] = goto.filter((one) => one[3]).map(([path, icon, title]) => ({ group: t.go, icon, text: title, run: to(path) }));
    entries.push(
      { group: t.do, icon: 'moon', text: words.value.shell.theme, run: other_theme },
      { group: t.do, icon: 'pause', text: live_on.value ? t.pause_live : t.go_live, run: () => (live_on.value = !live_on.value) },
      { group: t.do, icon: 'time', text: zone.value === 'utc' ? words.value.shell.show_local : words.value.shell.show_utc, run: () => (zone.value = zone.value === 'utc' ? 'local' : 'utc') },
      { group: t.do, icon: 'message', text: language.value === 'de' ? 'English' : 'Deutsch', run: () => (language.value = language.value === 'de' ? 'en' : 'de') },
    );
    if (may('start')) for (const name of names()) entries.push({ group: t.start, icon: 'plus', text: t.start_one(title_of_definition(name)), note: name, run: to(`/start/${part(name)}`) });
    return entries;
  }, [definitions.value, words.value]);

  const needle = text.trim().toLowerCase();
  const old: Entry[] = recent().map((one) => {
    const [path, title] = one.split('\n') as [string, string];
    return { group: t.recent, icon: 'time', text: title, run: to(path) };
  });
  const matching = (needle ? fixed.filter((one) => `${one.text} ${one.note ?? ''}`.toLowerCase().includes(needle)) : [...old.slice(0, 5), ...fixed.filter((one) => one.group !== t.start)]).slice(0, 24);
  const entries = [...found, ...(needle && may('view') ? [{ group: t.do, icon: 'filter', text: t.list_all(text.trim()), run: to(query('/instances', { q: /[: "]/.test(text.trim()) ? text.trim() : text.trim() })) }] : []), ...matching];
  const order = [...new Set(entries.map((one) => one.group))];
  const sorted = order.flatMap((group) => entries.filter((one) => one.group === group));
  const chosen = Math.min(at, sorted.length - 1);
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      set_at((chosen + (event.key === 'ArrowDown' ? 1 : sorted.length - 1)) % Math.max(1, sorted.length));
      document.getElementById(`cmd-${chosen}`)?.scrollIntoView({ block: 'nearest' });
    } else if (event.key === 'Enter') {
      event.preventDefault();
      onClose();
      sorted[chosen]?.run();
    }
  };
  return (
    <dialog ref={ref} class="cmdk" aria-label={t.label} onCancel={(event) => (event.preventDefault(), onClose())} onClick={(event) => event.target === ref.current && onClose()}>
      <div class="q">
        <Icon name="search" />
        <input role="combobox" aria-expanded="true" aria-controls="cmd-list" aria-activedescendant={sorted.length ? `cmd-${chosen}` : undefined} aria-label={t.label} placeholder={words.value.shell.palette} value={text} onInput={(event) => (set_text(event.currentTarget.value), set_at(0))} onKeyDown={keys} />
        <kbd>Esc</kbd>
      </div>
      <div id="cmd-list" role="listbox" aria-label={t.label} class="cmdlist">
        {order.map((group) => (
          <div role="group" aria-label={group} key={group}>
            <h3 aria-hidden="true">{group}</h3>
            {sorted.map((one, index) =>
              one.group !== group ? null : (
                <div class="opt" role="option" id={`cmd-${index}`} key={index} aria-selected={index === chosen} onMouseMove={() => set_at(index)} onClick={() => (onClose(), one.run())}>
                  <Icon name={one.icon} />
                  <span class="cut">{one.text}</span>
                  {one.note && <span class="end">{one.note}</span>}
                </div>
              ),
            )}
          </div>
        ))}
        {sorted.length === 0 && <p class="empty">{t.nothing}</p>}
      </div>
    </dialog>
  );
}
