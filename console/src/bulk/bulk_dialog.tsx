// One action for many instances: what it will touch, a reason, progress, and what failed.
import { useEffect, useState } from 'preact/hooks';
import { part } from '../api';
import { link } from '../base_path';
import { curl, shell } from '../commands';
import { CopyButton, short_id } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { count, words } from '../words';
import { change_job, preview, type BulkAction, type Preview } from './jobs';
import { Progress, useJob } from './progress';

export type { BulkAction };

interface Props {
  action: BulkAction;
  ids?: string[];
  names?: string[]; // their references, for the preview
  filter?: string; // or everything that matches
  onClose: () => void;
  onDone: () => void;
}

const tried_first = 5;

export function BulkDialog({ action, ids, names, filter, onClose, onDone }: Props) {
  const t = words.value.bulk;
  // The selection is frozen by the server as soon as this opens; the reason comes with the start.
  const [frozen, set_frozen] = useState<Preview | null>(null);
  const [reason, set_reason] = useState('');
  const [error, set_error] = useState('');
  const [started, set_started] = useState<string | null>(null);
  const [sample, set_sample] = useState<string[] | null>(null); // what the first try took
  const { job, change } = useJob(started);
  useEffect(() => {
    preview(action, { ids, filter }).then(set_frozen, (problem) => set_error(reason_of(problem)));
  }, []);
  const over = job?.finished === true;
  useEffect(() => {
    if (over) onDone();
  }, [over]);

  const begin = async (chosen?: string[]) => {
    set_error('');
    try {
      const { id } = chosen ? await preview(action, { ids: chosen }) : frozen!;
      await change_job(id, 'start', reason.trim());
      set_started(id);
    } catch (problem) {
      set_error(reason_of(problem));
    }
  };
  const total = frozen?.total ?? 0;
  const first = names?.slice(0, tried_first) ?? frozen?.first.slice(0, tried_first).map((one) => (one.length > 30 ? short_id(one) : one)) ?? [];
  const verb = t.verbs[action];
  const chosen = filter !== undefined ? `--filter ${shell(filter)}` : '';
  const command = filter !== undefined ? `cairn bulk ${action} ${chosen}${reason.trim() ? ` --reason ${shell(reason.trim())}` : ''}` : (ids ?? []).slice(0, 20).map((id) => `cairn ${action} ${shell(id)}`).join('; ');
  const danger = action === 'cancel' || action === 'delete';
  const rest = sample && ids ? ids.filter((id) => !sample.includes(id)) : [];
  return (
    <Dialog
      title={job ? (over ? t.finished(verb.done, count(job.done), count(job.total)) : job.state === 'paused' ? t.paused : t.working(verb.doing, count(job.total))) : t.title(verb.do, count(total))}
      onClose={onClose}
      onSubmit={() => !job && total > 0 && void begin()}
      actions={
        job ? (
          <>
            {!over && (
              <>
                <button class="btn" type="button" onClick={() => void change('cancel')}>
                  {t.stop}
                </button>
                <button class="btn" type="button" onClick={() => void change(job.state === 'paused' ? 'resume' : 'pause')}>
                  {job.state === 'paused' ? t.go_on : t.pause}
                </button>
              </>
            )}
            {over && rest.length > 0 && job.failed_count === 0 && (
              <button class="btn is-primary" type="button" onClick={() => (set_sample(null), set_started(null), void begin(rest))}>
                {t.rest(verb.do, count(rest.length))}
              </button>
            )}
            <a class="btn" href={link(`/batches/${part(job.id)}`)}>
              {t.results}
            </a>
            <button class={over && rest.length === 0 ? 'btn is-primary' : 'btn'} type="button" onClick={onClose}>
              {over ? t.close : t.in_background}
            </button>
          </>
        ) : (
          <>
            <button class="btn" type="button" onClick={onClose}>
              {words.value.common.not_now}
            </button>
            {ids && ids.length > 2 * tried_first && (
              <button class="btn" type="button" disabled={!frozen} onClick={() => (set_sample(ids.slice(0, tried_first)), void begin(ids.slice(0, tried_first)))}>
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
      {!job && (
        <>
          <p class="soft">{frozen ? t.frozen : error ? '' : t.counting}</p>
          {frozen && (
            <dl class="facts">
              <dt>{t.how_many}</dt>
              <dd class="strong">{count(total)}</dd>
              {first.length > 0 && (
                <>
                  <dt>{t.first}</dt>
                  <dd>
                    {first.join(', ')}
                    {total > first.length && ' …'}
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
      {job && <Progress job={job} />}
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
