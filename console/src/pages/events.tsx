// Live events, newest first, and the outbox before them.
import { useEffect, useState } from 'preact/hooks';
import { part } from '../api';
import { link } from '../base_path';
import { connected, instance_of, listen, type CloudEvent } from '../live';
import { last_events } from '../last_rows';
import { live_on } from '../settings';
import { curl } from '../commands';
import { useTitle } from '../shell/crumbs';
import { Command, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { JsonView } from '../ui/json_view';
import { Broken, Empty, Loading } from '../ui/states';
import { VirtualList } from '../ui/virtual_list';
import { clock_time, exact, words } from '../words';

const most = 5000;
const icon_of = (type: string): [string, string] => {
  if (type.startsWith('cairn.instance.')) return ({ started: ['start', 'event'], completed: ['completed', 'completed'], failed: ['failed', 'failed'], cancelled: ['cancelled', 'cancelled'], suspended: ['suspended', 'suspended'], resumed: ['play', 'running'] } as Record<string, [string, string]>)[type.slice(15)] ?? ['instances', ''];
  if (type.startsWith('cairn.task.')) return ['person', 'person'];
  if (type.startsWith('cairn.run.')) return ['call', type.endsWith('failed') ? 'retrying' : 'running'];
  return ['event', 'event'];
};

export default function EventsPage() {
  const t = words.value.events;
  useTitle(words.value.nav.events);
  const [items, set_items] = useState<CloudEvent[] | null>(null);
  const [error, set_error] = useState<Error | null>(null);
  const [find, set_find] = useState('');
  const [chosen, set_chosen] = useState<CloudEvent | null>(null);
  useEffect(() => {
    let over = false;
    const load = async () => {
      const before = (await last_events()).reverse();
      if (!over) set_items((old) => [...(old ?? []), ...before]);
    };
    load().catch((problem) => !over && set_error(problem as Error));
    const quiet = listen((event) => live_on.value && set_items((old) => [event, ...(old ?? [])].slice(0, most)));
    return () => {
      over = true;
      quiet();
    };
  }, []);
  const shown = (items ?? []).filter((one) => !find || `${one.type} ${one.subject ?? ''}`.toLowerCase().includes(find.toLowerCase()));
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{words.value.nav.events}</h1>
        <span class="sub">{live_on.value ? (connected.value ? t.listening : t.not_connected) : t.paused}</span>
        <div class="actions">
          <Command text={curl('GET', '/v1/events')} />
        </div>
      </div>
      <div class="filter">
        <Icon name="filter" />
        <input class="field" aria-label={t.find} placeholder={t.find} value={find} onInput={(event) => set_find(event.currentTarget.value)} />
      </div>
      {error && !items ? (
        <Broken error={error} />
      ) : !items ? (
        <Loading />
      ) : shown.length === 0 ? (
        <Empty icon="stream" title={t.none}>
          <p>{t.none_text}</p>
        </Empty>
      ) : (
        <div class="twocol">
          <div class="col">
            <VirtualList
              tag="ul"
              class="events"
              label={words.value.nav.events}
              count={shown.length}
              row={32}
              render={(at) => {
                const event = shown[at]!;
                const [icon, tone] = icon_of(event.type);
                const data = event.data as { reference?: string; title?: string; name?: string } | null;
                return (
                  <li key={event.id + event.sequence} data-st={tone}>
                    <button type="button" aria-pressed={chosen === event} onClick={() => set_chosen(event)}>
                      <Icon name={icon} />
                      <span class="mono cut">{event.type}</span>
                      <span class="muted cut grow">{data?.reference ?? data?.title ?? data?.name ?? event.subject}</span>
                      <time dateTime={event.time} title={exact(event.time)} class="muted">
                        {clock_time(event.time, true)}
                      </time>
                    </button>
                  </li>
                );
              }}
            />
          </div>
          <aside class="side" aria-label={t.chosen}>
            {chosen ? (
              <>
                <div>
                  <h3>{chosen.type}</h3>
                  {instance_of(chosen) && /^[\w.~:@-]+$/.test(instance_of(chosen)!) && <a href={link(`/instances/${part(instance_of(chosen)!)}`)}>{`${t.instance} ${short_id(instance_of(chosen)!)}`}</a>}
                </div>
                <div class="framed padded-y">
                  <JsonView value={chosen.data} name={`event-${chosen.sequence}`} label={t.chosen} />
                </div>
              </>
            ) : (
              <p class="muted">{t.choose}</p>
            )}
          </aside>
        </div>
      )}
    </main>
  );
}
