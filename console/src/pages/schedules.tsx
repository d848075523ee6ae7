import { useState } from 'preact/hooks';
import { get, part, query, send } from '../api';
import type { Schedule, SchedulePage } from '../api_types';
import { link } from '../base_path';
import { is_object, type Json } from '../json/lossless';
import { useResource } from '../resource';
import { cron_words, every_words } from '../schedule_words';
import { may } from '../session';
import { language } from '../settings';
import { useTitle } from '../shell/crumbs';
import { Confirm } from '../ui/confirm';
import { Command, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { Menu } from '../ui/menu';
import { ListPage, Scroller } from '../ui/page';
import { Empty, reason_of } from '../ui/states';
import { Status } from '../ui/status';
import { toast } from '../ui/toast';
import { exact, moment, until, is_past, words } from '../words';

type Row = Schedule & { cron?: string; every?: string; zone?: string; overlap?: string; start?: { definition: string }; run?: { type: string } };

export default function SchedulesPage() {
  const t = words.value.schedules;
  useTitle(words.value.nav.schedules);
  const [asking, set_asking] = useState<{ row: Row; what: 'trigger' | 'delete' } | null>(null);
  const [open, set_open] = useState<string | null>(null);
  const list = useResource('schedules', (signal) => get<SchedulePage>(query('/v1/schedules', { limit: 200 }), signal), { poll: 10000 });
  const act = async (row: Row, what: 'pause' | 'resume') => {
    try {
      await send('POST', `/v1/schedules/${part(row.name)}/${what}`, {});
      list.reload();
    } catch (problem) {
      toast(reason_of(problem), undefined, true);
    }
  };
  const run = async (reason: string) => {
    const { row, what } = asking!;
    if (what === 'trigger') await send('POST', `/v1/schedules/${part(row.name)}/trigger`, reason ? { reason } : {});
    else await send('DELETE', `/v1/schedules/${part(row.name)}`, undefined, { reason });
    toast(what === 'trigger' ? t.fired(row.name) : t.deleted(row.name));
    list.reload();
  };
  return (
    <ListPage title={words.value.nav.schedules} sub={t.sub} source={list} actions={<Command text="cairn schedules list" />}>
      {(page) =>
        page.items.length === 0 ? (
          <Empty icon="schedules" title={t.none}>
            <p>{t.none_text}</p>
            <Command text="cairn schedules create month-end --cron '0 6 L * *' --definition billing.close" />
          </Empty>
        ) : (
          <Scroller label={words.value.nav.schedules}>
            <table class="table is-stack cols-schedules">
              <thead>
                <tr>
                  <th>{t.name}</th>
                  <th>{t.when}</th>
                  <th class="wide-only">{t.starts}</th>
                  <th>{t.next}</th>
                  <th class="wide-only">{t.last}</th>
                  <th>{t.status}</th>
                  <th />
                </tr>
              </thead>
              <tbody>
                {(page.items as Row[]).map((row) => (
                  <>
                    <tr key={row.name} onClick={() => set_open(open === row.name ? null : row.name)}>
                      <td class="ref">
                        <button class="linklike" type="button" aria-expanded={open === row.name} onClick={(event) => (event.stopPropagation(), set_open(open === row.name ? null : row.name))}>
                          {row.name}
                        </button>
                      </td>
                      <td title={row.cron ?? row.every}>
                        {row.cron ? cron_words(row.cron, language.value) : row.every ? every_words(row.every, language.value) : ''} {row.zone && row.zone !== 'UTC' && <span class="muted">{row.zone}</span>}
                      </td>
                      <td class="wide-only">{row.start ? <a href={link(`/definitions/${part(row.start.definition)}`)}>{row.start.definition}</a> : <span class="mono">{row.run?.type}</span>}</td>
                      <td title={row.next_at ? exact(row.next_at) : undefined}>{row.next_at && !row.paused ? (is_past(row.next_at) ? moment(row.next_at) : words.value.time.in(until(row.next_at, 1))) : '–'}</td>
                      <td class="wide-only">
                        <Last last={row.last} />
                      </td>
                      <td>{row.paused ? <Status tone="cancelled" icon="pause" word={t.paused} /> : <Status tone="completed" word={t.active} />}</td>
                      <td class="is-num" onClick={(event) => event.stopPropagation()}>
                        {may('operate') && (
                          <Menu
                            label={t.actions(row.name)}
                            icon="more"
                            small
                            quiet
                            items={[
                              { text: t.trigger, icon: 'play', run: () => set_asking({ row, what: 'trigger' }) },
                              row.paused ? { text: t.resume, icon: 'play', run: () => void act(row, 'resume') } : { text: t.pause, icon: 'pause', run: () => void act(row, 'pause') },
                              { text: t.delete, icon: 'x', danger: true, run: () => set_asking({ row, what: 'delete' }) },
                            ]}
                          />
                        )}
                      </td>
                    </tr>
                    {open === row.name && (
                      <tr key={`${row.name}+`} class="more-row">
                        <td colSpan={7}>
                          <Preview name={row.name} />
                        </td>
                      </tr>
                    )}
                  </>
                ))}
              </tbody>
            </table>
            {asking && <Confirm title={asking.what === 'trigger' ? t.trigger_title(asking.row.name) : t.delete_title(asking.row.name)} text={asking.what === 'trigger' ? t.trigger_text : t.delete_text} button={asking.what === 'trigger' ? t.trigger : t.delete} danger={asking.what === 'delete'} run={run} onClose={() => set_asking(null)} />}
          </Scroller>
        )
      }
    </ListPage>
  );
}

function Last({ last }: { last: Json | undefined }) {
  if (!is_object(last)) return <span class="muted">–</span>;
  if (typeof last.error === 'string' || is_object(last.error)) return <Status tone="failed" word={String(typeof last.error === 'string' ? last.error : (last.error.message ?? ''))} />;
  if (typeof last.instance === 'string') {
    return (
      <a href={link(`/instances/${part(last.instance)}`)} title={String(last.at)}>
        {typeof last.at === 'string' ? moment(last.at) : short_id(last.instance)}
      </a>
    );
  }
  return <span>{typeof last.at === 'string' ? moment(last.at) : ''}</span>;
}

function Preview({ name }: { name: string }) {
  const t = words.value.schedules;
  const next = useResource(`preview ${name}`, (signal) => get<Json>(query(`/v1/schedules/${part(name)}/preview`, { count: 5 }), signal));
  const times = is_object(next.value) ? ((next.value.items ?? next.value.times ?? []) as Json[]) : [];
  return (
    <div class="row">
      <Icon name="schedules" />
      <span class="muted">{t.next_five}</span>
      {times.map((one) => {
        const at = typeof one === 'string' ? one : is_object(one) ? String(one.at ?? one.fires_at ?? '') : '';
        return (
          <span class="chip is-plain" key={at} title={at}>
            {exact(at)}
          </span>
        );
      })}
    </div>
  );
}
