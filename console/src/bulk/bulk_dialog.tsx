// One action for many instances: what it will touch, a reason, progress, and what failed.
import { useEffect, useRef, useState } from 'preact/hooks';
import { get, part, query, send } from '../api';
import type { BulkProgress, BulkStarted, Instance } from '../api_types';
import { link } from '../base_path';
import { curl, shell } from '../commands';
import { reference_of } from '../error_groups';
import { CopyButton, short_id } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { count, words } from '../words';
import { start_batch, type Batch, type BulkAction } from './batch';

interface Props {
  action: BulkAction;
  ids?: string[]; // a frozen list
  names?: string[]; // their references, for the preview
  filter?: string; // or everything that matches
  onClose: () => void;
  onDone: () => void;
}

interface Running {
  total: number;
  done: number; // also those that failed
  failed: { id: string; why: string }[]; // the first of them
  failures: number;
  paused: boolean;
  finished: boolean;
}

export function BulkDialog({ action, ids, names, filter, onClose, onDone }: Props) {
  const t = words.value.bulk;
  const [preview, set_preview] = useState<{ total: number; first: string[] } | null>(ids ? { total: ids.length, first: (names ?? ids).slice(0, 5) } : null);
  const [reason, set_reason] = useState('');
  const [error, set_error] = useState('');
  const [running, set_running] = useState<Running | null>(null);
  const [sample, set_sample] = useState(0);
  const batch = useRef<ReturnType<typeof start_batch> | null>(null);
  const over = useRef(false);
  useEffect(() => {
    if (filter !== undefined) {
      send<BulkStarted>('POST', '/v1/bulk', { action, filter, dry_run: true, ...(filter.trim() ? {} : { all: true }) }).then(
        (answer) => set_preview({ total: answer.matched, first: (answer.instances as unknown as Instance[] | undefined)?.slice(0, 5).map((one) => (typeof one === 'string' ? short_id(one) : reference_of(one) || short_id(one.id))) ?? [] }),
        (problem) => set_error(reason_of(problem)),
      );
    }
    return () => {
      over.current = true;
    };
  }, []);

  const run_list = (list: string[]) => {
    const started = start_batch(list, action, reason.trim());
    batch.current = started;
    started.state.subscribe((state: Batch) => {
      if (over.current) return;
      set_running({ ...state, failures: state.failed.length });
      if (state.finished) onDone();
    });
  };
  // The server runs it: this page only shows how far it is.
  const run_filter = async () => {
    try {
      const job = await send<BulkStarted>('POST', '/v1/bulk', { action, filter: filter!, max: Math.min(100000, Math.max(1, preview!.total)), ...(filter!.trim() ? {} : { all: true }), ...(reason.trim() ? { reason: reason.trim() } : {}) });
      set_running({ total: job.matched, done: 0, failed: [], failures: 0, paused: false, finished: job.matched === 0 });
      let done = -1;
      while (!over.current && job.id) {
        const state: BulkProgress = await get<BulkProgress>(query(`/v1/bulk/${part(job.id)}`, { after: done < 0 ? undefined : done }));
        done = state.done + state.failed_count;
        set_running({ total: state.total, done, failed: state.failed.map((one) => ({ id: one.instance, why: one.detail })), failures: state.failed_count, paused: false, finished: state.finished });
        if (state.finished) break;
      }
      onDone();
    } catch (problem) {
      set_error(reason_of(problem));
    }
  };
  const go = () => {
    set_error('');
    if (ids) run_list(sample ? ids.slice(sample) : ids);
    else void run_filter();
  };
  const try_five = () => {
    set_sample(5);
    run_list(ids!.slice(0, 5));
  };
  const total = preview?.total ?? 0;
  const verb = t.verbs[action];
  const command = filter !== undefined ? `cairn bulk ${action} --filter ${shell(filter)}${reason.trim() ? ` --reason ${shell(reason.trim())}` : ''}` : (ids ?? []).slice(0, 20).map((id) => `cairn ${action} ${shell(id)}`).join('; ');
  const trying = running && sample > 0 && running.total === sample && ids && ids.length > sample;
  const danger = action === 'cancel' || action === 'delete';
  return (
    <Dialog
      title={running ? (running.finished ? t.finished(verb.done, count(running.done - running.failures), count(running.total)) : t.working(verb.doing, count(running.total))) : t.title(verb.do, count(total))}
      onClose={() => {
        batch.current?.stop();
        onClose();
      }}
      onSubmit={() => !running && total > 0 && go()}
      actions={
        running ? (
          <>
            {!running.finished && batch.current && (
              <button class="btn" type="button" onClick={() => batch.current!.pause(!running.paused)}>
                {running.paused ? t.go_on : t.pause}
              </button>
            )}
            {running.finished && trying && running.failed.length === 0 && (
              <button class="btn is-primary" type="button" onClick={() => (set_running(null), run_list(ids!.slice(sample)))}>
                {t.rest(verb.do, count(ids!.length - sample))}
              </button>
            )}
            {running.finished && (
              <button class={trying ? 'btn' : 'btn is-primary'} type="button" onClick={onClose}>
                {t.close}
              </button>
            )}
          </>
        ) : (
          <>
            <button class="btn" type="button" onClick={onClose}>
              {words.value.common.not_now}
            </button>
            {ids && ids.length > 10 && (
              <button class="btn" type="button" onClick={try_five}>
                {t.try_five}
              </button>
            )}
            <button class={danger ? 'btn is-fill-danger' : 'btn is-primary'} type="submit" disabled={total === 0}>
              {`${verb.do} ${count(total)}`}
            </button>
          </>
        )
      }
    >
      {!running && (
        <>
          <p class="soft">{preview ? (ids ? t.frozen : t.by_filter) : t.counting}</p>
          {preview && (
            <dl class="facts">
              <dt>{t.how_many}</dt>
              <dd class="strong">{count(total)}</dd>
              {preview.first.length > 0 && (
                <>
                  <dt>{t.first}</dt>
                  <dd>
                    {preview.first.join(', ')}
                    {total > preview.first.length && ' …'}
                  </dd>
                </>
              )}
              {filter !== undefined && (
                <>
                  <dt>{t.filter}</dt>
                  <dd class="mono">{filter || t.everything}</dd>
                </>
              )}
            </dl>
          )}
          <div class="f">
            <label for="bulk-reason">{words.value.actions.reason}</label>
            <input class="input" id="bulk-reason" value={reason} autocomplete="off" onInput={(event) => set_reason(event.currentTarget.value)} />
            <span class="help">{words.value.actions.kept}</span>
          </div>
          <div class="row">
            <span class="muted t12">{t.same_as}</span>
            <CopyButton text={command} label="cairn" />
            <span class="mono t12">cairn</span>
            {filter !== undefined && (
              <>
                <CopyButton text={curl('POST', '/v1/bulk', JSON.stringify({ action, filter }))} label="curl" />
                <span class="mono t12">curl</span>
              </>
            )}
          </div>
        </>
      )}
      {running && <Progress running={running} />}
      {error && (
        <div class="f">
          <span class="error" role="alert">
            <Icon name="suspended" />
            {error}
          </span>
        </div>
      )}
    </Dialog>
  );
}

function Progress({ running }: { running: Running }) {
  const t = words.value.bulk;
  const percent = running.total ? (running.done / running.total) * 100 : 100;
  return (
    <>
      <p aria-live="polite">{t.progress(count(running.done), count(running.total), count(running.failures))}</p>
      <svg class="meter is-thick" data-st="running" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${Math.round(percent)} %`}>
        <rect class="bg" width="100" height="6" />
        <rect class="fg" width={percent} height="6" />
      </svg>
      {running.failed.length > 0 && (
        <ul class="list is-framed" tabIndex={0} aria-label={t.failed_list}>
          {running.failed.slice(0, 100).map((one) => (
            <li key={one.id}>
              <a href={link(`/instances/${part(one.id)}`)}>{short_id(one.id)}</a>
              <span class="muted t12">{one.why}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
