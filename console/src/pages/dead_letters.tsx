import { useMemo, useState } from 'preact/hooks';
import { get, part, query, send } from '../api';
import type { DeadLetter, DeadLetterPage } from '../api_types';
import { link } from '../base_path';
import { useResource } from '../resource';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { Confirm } from '../ui/confirm';
import { Command, short_id } from '../ui/copy';
import { JsonView } from '../ui/json_view';
import { ListPage, Scroller } from '../ui/page';
import { Empty } from '../ui/states';
import { toast } from '../ui/toast';
import { Ago } from '../ui/when';
import { count, words } from '../words';

export default function DeadLettersPage() {
  const t = words.value.dead;
  useTitle(words.value.nav.dead_letters);
  const [open, set_open] = useState<number | null>(null);
  const [asking, set_asking] = useState<{ what: 'replay' | 'discard'; letters: DeadLetter[] } | null>(null);
  const list = useResource('dead letters', (signal) => get<DeadLetterPage>(query('/v1/dead-letters', { limit: 200 }), signal), { poll: 8000 });
  const groups = useMemo(() => {
    const found = new Map<string, DeadLetter[]>();
    for (const one of list.value?.items ?? []) {
      const key = `${one.kind}\n${one.reason}`;
      found.set(key, [...(found.get(key) ?? []), one]);
    }
    return [...found.values()].sort((a, b) => b.length - a.length);
  }, [list.value]);
  const run = async (reason: string) => {
    const { what, letters } = asking!;
    for (const one of letters) {
      if (what === 'replay') await send('POST', `/v1/dead-letters/${one.id}/replay`, reason ? { reason } : {});
      else await send('DELETE', `/v1/dead-letters/${one.id}`, undefined, { reason });
    }
    toast(what === 'replay' ? t.replayed(letters.length) : t.discarded(letters.length));
    list.reload();
  };
  return (
    <ListPage title={words.value.nav.dead_letters} sub={t.sub} source={list} actions={<Command text="cairn dead list" />}>
      {() =>
        groups.length === 0 ? (
          <Empty icon="letters" title={t.none}>
            <p>{t.none_text}</p>
          </Empty>
        ) : (
          <Scroller label={words.value.nav.dead_letters}>
            <div class="pad">
              {groups.map((letters) => {
                const first = letters[0]!;
                return (
                  <section class="card is-spaced" key={first.id}>
                    <div class="top">
                      <h2 class="cut">{first.reason}</h2>
                      <span class="muted t12">{`${count(letters.length)} · ${first.kind}`}</span>
                      <span class="grow" />
                      {may('operate') && (
                        <>
                          <button class="btn is-s" type="button" onClick={() => set_asking({ what: 'discard', letters })}>
                            {t.discard}
                          </button>
                          <button class="btn is-s" type="button" onClick={() => set_asking({ what: 'replay', letters })}>
                            {t.replay(count(letters.length))}
                          </button>
                        </>
                      )}
                    </div>
                    <ul class="list">
                      {letters.slice(0, 50).map((one) => (
                        <li key={one.id} class="is-column">
                          <span class="row">
                            <button class="linklike" type="button" aria-expanded={open === one.id} onClick={() => set_open(open === one.id ? null : one.id)}>
                              {`#${one.id}`}
                            </button>
                            {one.instance && <a href={link(`/instances/${part(one.instance)}`)}>{short_id(one.instance)}</a>}
                            <span class="muted grow">{one.node}</span>
                            <span class="muted">
                              <Ago at={one.at} />
                            </span>
                          </span>
                          {open === one.id && (
                            <div class="framed padded-y">
                              <JsonView value={one.envelope} name={`dead-letter-${one.id}`} label={t.envelope} />
                            </div>
                          )}
                        </li>
                      ))}
                    </ul>
                  </section>
                );
              })}
            </div>
            {asking && <Confirm title={asking.what === 'replay' ? t.replay_title(count(asking.letters.length)) : t.discard_title(count(asking.letters.length))} text={asking.what === 'replay' ? t.replay_text : t.discard_text} button={asking.what === 'replay' ? t.replay(count(asking.letters.length)) : t.discard} danger={asking.what === 'discard'} run={run} onClose={() => set_asking(null)} />}
          </Scroller>
        )
      }
    </ListPage>
  );
}
