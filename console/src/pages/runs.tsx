// Runs and workers: what waits for a worker, who works on what, and the settings of run types.
import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import { get, part, query, send } from '../api';
import type { Run, RunPage } from '../api_types';
import { link } from '../base_path';
import { cairn_runs } from '../commands';
import type { Json } from '../json/lossless';
import { useResource } from '../resource';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { Confirm } from '../ui/confirm';
import { Command, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { Menu } from '../ui/menu';
import { Scroller } from '../ui/page';
import { Broken, Empty, Loading, reason_of } from '../ui/states';
import { Status, Tries, type Tone } from '../ui/status';
import { toast } from '../ui/toast';
import { Since } from '../ui/when';
import { count, is_past, until, words } from '../words';

interface RunType {
  type: string;
  paused?: boolean;
  concurrency?: number;
  rate?: number;
}

const tones: Record<Run['status'], Tone> = { pending: 'time', leased: 'running', succeeded: 'completed', failed: 'failed', cancelled: 'cancelled' };

export default function RunsPage() {
  const t = words.value.runs;
  useTitle(words.value.nav.runs);
  const { query: url, route } = useLocation();
  const status = url.status ?? '';
  const [asking, set_asking] = useState<Run | null>(null);
  const runs = useResource(`runs ${status} ${url.instance} ${url.type}`, (signal) => get<RunPage>(query('/v1/runs', { status, instance: url.instance, type: url.type, limit: 200 }), signal), { live: (event) => event.type.startsWith('cairn.run.'), least: 1000, poll: 4000, always: true });
  const leased = useResource('leased', (signal) => get<RunPage>(query('/v1/runs', { status: 'leased', limit: 200 }), signal), { poll: 4000 });
  const types = useResource('run types', (signal) => get<{ items: RunType[] }>('/v1/run-types', signal), { poll: 15000 });
  const workers = useMemo(() => {
    const found = new Map<string, { runs: number; types: Set<string>; until: string }>();
    for (const run of leased.value?.items ?? []) {
      const name = run.leased_by ?? '?';
      const one = found.get(name) ?? { runs: 0, types: new Set<string>(), until: '' };
      one.runs++;
      one.types.add(run.type);
      if (run.lease_until && run.lease_until > one.until) one.until = run.lease_until;
      found.set(name, one);
    }
    return [...found];
  }, [leased.value]);
  const by_type = useMemo(() => {
    const known = new Map<string, { pending: number; leased: number; failed: number; settings?: RunType }>();
    for (const run of [...(runs.value?.items ?? [])]) {
      const one = known.get(run.type) ?? { pending: 0, leased: 0, failed: 0 };
      if (run.status === 'pending' || run.status === 'leased' || run.status === 'failed') one[run.status]++;
      known.set(run.type, one);
    }
    for (const one of types.value?.items ?? []) known.set(one.type, { ...(known.get(one.type) ?? { pending: 0, leased: 0, failed: 0 }), settings: one });
    return [...known].sort();
  }, [runs.value, types.value]);
  const pause = async (type: string, paused: boolean, settings: RunType | undefined) => {
    try {
      const { type: _, ...rest } = (settings ?? { type }) as unknown as { type: string; [name: string]: Json };
      delete (rest as { changed_at?: Json }).changed_at;
      await send('PUT', `/v1/run-types/${part(type)}`, { ...rest, paused });
      types.reload();
    } catch (problem) {
      toast(reason_of(problem), undefined, true);
    }
  };
  const filter = (next: string) => link(query('/runs', { status: next, instance: url.instance, type: url.type }));
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{words.value.nav.runs}</h1>
        <span class="sub">{t.sub}</span>
        <div class="actions">
          <Command text={cairn_runs(status, url.instance)} />
        </div>
      </div>
      <nav class="tabs" aria-label={t.status}>
        {['', 'pending', 'leased', 'succeeded', 'failed', 'cancelled'].map((one) => (
          <a key={one} href={filter(one)} aria-current={status === one ? 'page' : undefined}>
            {one ? words.value.run_status[one as Run['status']] : t.all}
          </a>
        ))}
        {(url.instance || url.type) && (
          <span class="end">
            <a class="chip" href={link(query('/runs', { status }))}>
              <b>{url.instance ? t.instance : t.type}</b> {url.instance ? short_id(url.instance) : url.type}
              <Icon name="x" size={12} />
            </a>
          </span>
        )}
      </nav>
      <div class="twocol">
        <div class="col">
          {!runs.value ? (
            runs.error ? <Broken error={runs.error} retry={runs.reload} /> : <Loading />
          ) : runs.value.items.length === 0 ? (
            <Empty icon="workers" title={t.none}>
              <p>{t.none_text}</p>
            </Empty>
          ) : (
            <Scroller label={words.value.nav.runs}>
              <table class="table is-stack cols-runs">
                <thead>
                  <tr>
                    <th>{t.type}</th>
                    <th>{t.status}</th>
                    <th>{t.tries}</th>
                    <th class="wide-only">{t.error}</th>
                    <th class="wide-only">{t.instance}</th>
                    <th>{t.age}</th>
                    <th />
                  </tr>
                </thead>
                <tbody>
                  {runs.value.items.map((run) => {
                    const retrying = run.status === 'pending' && run.attempt > 0 && run.last_error;
                    return (
                      <tr key={run.id} onClick={() => run.instance && route(link(`/instances/${part(run.instance)}`))}>
                        <td class="mono">{run.type}</td>
                        <td>{retrying ? <Status tone="retrying" word={is_past(run.run_at) ? words.value.status.retrying : t.again(until(run.run_at, 1))} /> : <Status tone={tones[run.status]} word={words.value.run_status[run.status]} />}</td>
                        <td>
                          {(run.attempt > 1 || run.last_error) && <Tries attempt={run.attempt} of={run.max_attempts} />}
                          <span class="muted">{words.value.status.n_of(run.attempt, run.max_attempts)}</span>
                        </td>
                        <td class="wide-only muted" title={run.last_error}>
                          {run.last_error}
                        </td>
                        <td class="wide-only">{run.instance && <a href={link(`/instances/${part(run.instance)}`)}>{run.step ?? short_id(run.instance)}</a>}</td>
                        <td class="muted">{run.created_at && <Since at={run.created_at} />}</td>
                        <td class="is-num" onClick={(event) => event.stopPropagation()}>
                          {may('operate') && (run.status === 'pending' || run.status === 'leased') && <Menu label={t.actions(run.type)} icon="more" small quiet items={[{ text: t.cancel, icon: 'stop', danger: true, run: () => set_asking(run) }]} />}
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </Scroller>
          )}
        </div>
        <aside class="side" aria-label={t.workers}>
          <div>
            <h3>{t.workers}</h3>
            {workers.length === 0 && <p class="muted">{t.no_workers}</p>}
            <ul class="plain">
              {workers.map(([name, one]) => (
                <li key={name}>
                  <strong class="cut">{name}</strong>
                  <span class="muted t12">{t.works_on(count(one.runs), [...one.types].join(', '))}</span>
                </li>
              ))}
            </ul>
          </div>
          <div>
            <h3>{t.types}</h3>
            {by_type.length === 0 && <p class="muted">{t.no_types}</p>}
            <ul class="plain">
              {by_type.map(([type, one]) => (
                <li key={type}>
                  <span class="row">
                    <a class="mono grow cut" href={link(query('/runs', { type }))}>
                      {type}
                    </a>
                    {may('operate') && (
                      <button class="btn is-s is-quiet" type="button" onClick={() => void pause(type, !one.settings?.paused, one.settings)}>
                        {one.settings?.paused ? t.resume : t.pause}
                      </button>
                    )}
                  </span>
                  <span class="muted t12">
                    {one.settings?.paused ? `${t.paused} · ` : ''}
                    {t.numbers(one.pending, one.leased, one.failed)}
                    {one.settings?.concurrency ? ` · ${t.limit(one.settings.concurrency)}` : ''}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        </aside>
      </div>
      {asking && <Confirm title={t.cancel_title(asking.type)} text={t.cancel_text} button={t.cancel} danger run={async (reason) => (await send('POST', `/v1/runs/${part(asking.id)}/cancel`, reason ? { reason } : {}), runs.reload())} onClose={() => set_asking(null)} />}
    </main>
  );
}
