// The list of instances: filter, saved views, columns, selection, bulk actions.
import { useLocation } from 'preact-iso/router';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { get, part, query } from '../api';
import type { Instance, InstancePage } from '../api_types';
import { link } from '../base_path';
import { BulkDialog, type BulkAction } from '../bulk/bulk_dialog';
import { cairn_list, curl } from '../commands';
import { reference_of } from '../error_groups';
import { read_filter, without_part } from '../filter_text';
import { instance_of, listen } from '../live';
import { keep_list } from '../instance_list';
import { InstanceTable, columns_all, type Column } from '../instances/table';
import { FilterBar } from '../instances/filter_bar';
import { Views } from '../instances/views';
import { useKeys } from '../keys';
import { may } from '../session';
import { live_on, setting } from '../settings';
import { useTitle } from '../shell/crumbs';
import { Command, CopyButton, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { Menu, type MenuItem } from '../ui/menu';
import { Broken, Empty, Loading } from '../ui/states';
import { count, words } from '../words';

const columns = setting<string[]>('columns', ['workflow', 'status', 'where', 'since', 'next', 'id']);
const page_size = 100;
const plain = (verb: string): string => verb.replace(/:$/, '');

export default function InstancesPage() {
  const t = words.value.instances;
  const { query: url, route } = useLocation();
  const text = url.q ?? '';
  useTitle(words.value.nav.instances);
  const [rows, set_rows] = useState<Instance[] | null>(null);
  const [error, set_error] = useState<Error | null>(null);
  const [cursor_next, set_next] = useState<string | null>(null);
  const [fresh, set_fresh] = useState(0);
  const [cursor, set_cursor] = useState(-1);
  const [selected, set_selected] = useState<ReadonlySet<string>>(new Set());
  const [all, set_all] = useState(false);
  const [bulk, set_bulk] = useState<{ action: BulkAction; ids?: string[]; names?: string[]; filter?: string } | null>(null);
  const [alternatives, set_alternatives] = useState<{ index: number; text: string }[]>([]);
  const loading = useRef<AbortController | null>(null);

  const load = async (more = false) => {
    if (more && (!cursor_next || loading.current)) return;
    loading.current?.abort();
    const stop = new AbortController();
    loading.current = stop;
    try {
      const page = await get<InstancePage>(query('/v1/instances', { filter: text, with: 'waits', limit: page_size, cursor: more ? cursor_next : undefined }), stop.signal);
      set_rows((old) => (more && old ? [...old, ...page.items] : page.items));
      set_next(page.next_cursor ?? null);
      set_error(null);
      if (!more) {
        set_fresh(0);
        set_alternatives([]);
        if (page.items.length === 0) void find_alternatives();
      }
    } catch (problem) {
      if (!stop.signal.aborted) set_error(problem as Error);
    } finally {
      if (loading.current === stop) loading.current = null;
    }
  };
  // Empty results name the filter to drop.
  const find_alternatives = async () => {
    const parts = read_filter(text);
    if (parts.length < 1) return;
    const found = await Promise.all(
      parts.slice(0, 6).map(async (one, index) => {
        const page = await get<InstancePage>(query('/v1/instances', { filter: without_part(text, index), limit: 1 })).catch(() => null);
        return page?.items.length ? { index, text: one.name ? `${one.name}:${one.value}` : one.value } : null;
      }),
    );
    set_alternatives(found.filter((one) => one !== null));
  };
  useEffect(() => {
    set_rows(null);
    set_selected(new Set());
    set_all(false);
    set_cursor(-1);
    void load();
    return () => loading.current?.abort();
  }, [text]);

  // Live: rows on screen change in place; new ones wait behind a button.
  const known = useRef(new Map<string, number>());
  known.current = new Map((rows ?? []).map((row, at) => [row.id, at]));
  useEffect(() => {
    const pending = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = () => {
      timer = undefined;
      const ids = [...pending].slice(0, 40);
      pending.clear();
      void Promise.all(ids.map((id) => get<Instance>(`/v1/instances/${part(id)}`).catch(() => null))).then((found) => {
        const by_id = new Map(found.filter((one) => one !== null).map((one) => [one.id, one]));
        set_rows((old) => old && old.map((row) => by_id.get(row.id) ?? row));
      });
    };
    const quiet = listen((event) => {
      if (!live_on.value) return;
      const id = instance_of(event);
      if (!id) return;
      if (known.current.has(id)) {
        pending.add(id);
        timer ??= setTimeout(refresh, 200);
      } else if (event.type === 'cairn.instance.started') set_fresh((old) => old + 1);
    });
    return () => {
      quiet();
      clearTimeout(timer);
    };
  }, []);
  // A failed try has no event of its own: rows that wait for a call are looked at again.
  const moving = (rows ?? []).some((row) => row.retrying || (row.status === 'waiting' && row.waits?.some((one) => one.kind === 'run')));
  useEffect(() => {
    if (!moving) return;
    const timer = setInterval(() => {
      if (!live_on.value || document.hidden || loading.current) return;
      get<InstancePage>(query('/v1/instances', { filter: text, with: 'waits', limit: page_size })).then(
        (page) => {
          const by_id = new Map(page.items.map((one) => [one.id, one]));
          // The first page is up to date, so what left it no longer matches.
          set_rows((old) => old && old.flatMap((row, at) => by_id.get(row.id) ?? (at < page.items.length && text !== '' && !page.next_cursor ? [] : [row])));
        },
        () => {},
      );
    }, 4000);
    return () => clearInterval(timer);
  }, [moving, text]);

  const shown = useMemo(() => rows ?? [], [rows]);
  useEffect(() => keep_list(shown.map((row) => row.id)), [shown]);
  const set_text = (next: string) => route(link(query('/instances', { q: next })));
  const open = (at: number) => shown[at] && route(link(`/instances/${part(shown[at]!.id)}`));
  const toggle = (id: string) => {
    const next = new Set(selected);
    if (!next.delete(id)) next.add(id);
    set_selected(next);
    set_all(false);
  };
  const act = (action: BulkAction) => {
    if (all) set_bulk({ action, filter: text });
    else {
      const chosen = shown.filter((row) => selected.has(row.id));
      set_bulk({ action, ids: chosen.map((row) => row.id), names: chosen.map((row) => reference_of(row) || short_id(row.id)) });
    }
  };
  const here = shown[cursor];
  useKeys({
    j: () => set_cursor(Math.min(shown.length - 1, cursor + 1)),
    k: () => set_cursor(Math.max(0, cursor - 1)),
    ArrowDown: () => set_cursor(Math.min(shown.length - 1, cursor + 1)),
    ArrowUp: () => set_cursor(Math.max(0, cursor - 1)),
    x: () => here && may('operate') && toggle(here.id),
    o: () => open(cursor),
    Enter: () => open(cursor),
    '/': () => document.getElementById('filter')?.focus(),
    r: () => (selected.size > 0 || all) && act('retry'),
    Escape: () => {
      set_selected(new Set());
      set_all(false);
    },
  });
  const actions: MenuItem[] = (['resume', 'suspend', 'cancel', 'delete'] as const).map((one) => ({ text: plain(words.value.bulk.verbs[one].do), icon: { resume: 'play', suspend: 'pause', cancel: 'stop', delete: 'x' }[one], danger: one === 'cancel' || one === 'delete', run: () => act(one) }));
  const picked = selected.size > 0 || all;
  const columns_menu: MenuItem[] = columns_all.map((one) => ({
    text: t.columns[one],
    icon: columns.value.includes(one) ? 'check' : 'minus',
    run: () => (columns.value = columns.value.includes(one) ? columns.value.filter((name) => name !== one) : columns_all.filter((name) => name === one || columns.value.includes(name))),
  }));
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{words.value.nav.instances}</h1>
        <span class="sub" aria-live="polite">
          {rows && t.shown(count(shown.length), Boolean(cursor_next))}
        </span>
        <div class="actions">
          <Menu label={t.choose_columns} icon="columns" items={columns_menu}>
            {t.choose_columns}
          </Menu>
          {may('start') && (
            <a class="btn is-primary is-keep" href={link('/start')}>
              <Icon name="plus" />
              {words.value.start.button}
            </a>
          )}
        </div>
      </div>
      <Views text={text} onChoose={set_text} />
      <div class="filterrow">
        <FilterBar text={text} onChange={set_text} />
      </div>
      {fresh > 0 && (
        <button class="fresh" type="button" onClick={() => void load()}>
          {t.fresh(fresh)}
        </button>
      )}
      {error ? (
        <Broken error={error} retry={() => void load()} />
      ) : !rows ? (
        <Loading />
      ) : shown.length === 0 ? (
        <Empty icon="search" title={text ? t.nothing(read_filter(text).length) : t.none}>
          {!text && <p>{t.none_text}</p>}
          {alternatives.map((one) => (
            <p key={one.index}>
              {t.without(one.text)}{' '}
              <button class="btn is-s" type="button" onClick={() => set_text(without_part(text, one.index))}>
                {t.drop}
              </button>
            </p>
          ))}
          {!text && may('start') && (
            <a class="btn is-primary" href={link('/start')}>
              {words.value.start.button}
            </a>
          )}
        </Empty>
      ) : (
        <InstanceTable rows={shown} columns={columns.value as Column[]} cursor={cursor} selected={selected} all={all} onOpen={open} onToggle={toggle} onToggleAll={() => set_selected(selected.size === shown.length ? new Set() : new Set(shown.map((row) => row.id)))} near_end={() => void load(true)} />
      )}
      <div class={picked ? 'tfoot' : 'tfoot is-idle'}>
        {picked && may('operate') ? (
          <>
            <strong class="soft">{all ? t.all_selected : t.selected(count(selected.size))}</strong>
            <span class="row">
              <button class="btn is-s" type="button" onClick={() => act('retry')}>
                <Icon name="retrying" />
                {plain(words.value.bulk.verbs.retry.do)}
              </button>
              <Menu label={words.value.instance.more} icon="more" items={actions} small up>
                {words.value.nav.more}
              </Menu>
            </span>
            {!all && (
              <button class="linklike" type="button" onClick={() => set_all(true)}>
                {t.select_all}
              </button>
            )}
          </>
        ) : (
          <span class="nowrap">{rows && t.shown(count(shown.length), Boolean(cursor_next))}</span>
        )}
        <span class="grow" />
        <Command text={cairn_list(text)} />
        <span class="row wide-only">
          <span class="mono t12">curl</span>
          <CopyButton text={curl('GET', query('/v1/instances', { filter: text }))} label={t.copy_curl} />
        </span>
      </div>
      {bulk && <BulkDialog {...bulk} onClose={() => (set_bulk(null), set_selected(new Set()), set_all(false))} onDone={() => void load()} />}
    </main>
  );
}
