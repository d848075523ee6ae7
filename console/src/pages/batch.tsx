// One bulk action: its progress, and the result for each instance.
import { useRoute } from 'preact-iso/router';
import { useEffect, useState } from 'preact/hooks';
import { get, part, query } from '../api';
import type { BulkItem, BulkItemPage } from '../api_types';
import { link } from '../base_path';
import { Progress, useJob } from '../bulk/progress';
import { curl } from '../commands';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { CopyButton, short_id } from '../ui/copy';
import { Status, type Tone } from '../ui/status';
import { Broken, Loading } from '../ui/states';
import { count, moment, words } from '../words';
import { job_tone, verb_of } from './batches';

const tones: Record<BulkItem['outcome'], Tone> = { done: 'completed', failed: 'failed', pending: 'time' };

export default function BatchPage() {
  const t = words.value.batches;
  const id = useRoute().params.id!;
  const { job, change, error } = useJob(id);
  const [items, set_items] = useState<BulkItem[]>([]);
  const [next, set_next] = useState<string | null>(null);
  useTitle(words.value.nav.batches);
  const load = async (cursor?: string) => {
    const page = await get<BulkItemPage>(query(`/v1/bulk/${part(id)}/items`, { limit: 200, cursor }));
    set_items((old) => (cursor ? [...old, ...page.items] : page.items));
    set_next(page.next_cursor ?? null);
  };
  const step = job ? Math.floor(((job.done + job.failed_count) / Math.max(1, job.total)) * 20) : -1;
  useEffect(() => void load().catch(() => {}), [id, step, job?.state]);
  if (!job) return <main class="main" id="main">{error ? <Broken error={error} retry={() => location.reload()} /> : <Loading />}</main>;
  const verb = verb_of(job);
  const over = job.finished;
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{over ? words.value.bulk.finished(verb.done, count(job.done), count(job.total)) : words.value.bulk.working(verb.doing, count(job.total))}</h1>
        <Status tone={job_tone(job)} pill word={t.states[job.state]} />
        <div class="actions">
          {may('operate') && !over && job.state !== 'preview' && (
            <>
              <button class="btn" type="button" onClick={() => void change(job.state === 'paused' ? 'resume' : 'pause')}>
                {job.state === 'paused' ? words.value.bulk.go_on : words.value.bulk.pause}
              </button>
              <button class="btn is-danger" type="button" onClick={() => void change('cancel')}>
                {words.value.bulk.stop}
              </button>
            </>
          )}
          <CopyButton text={curl('GET', `/v1/bulk/${part(id)}`)} label={words.value.instances.copy_curl} />
        </div>
      </div>
      <div class="pad">
        <dl class="facts">
          <dt>{t.who}</dt>
          <dd>{job.person}</dd>
          {job.reason && (
            <>
              <dt>{t.why}</dt>
              <dd>{job.reason}</dd>
            </>
          )}
          {job.filter && (
            <>
              <dt>{words.value.bulk.filter}</dt>
              <dd class="mono">
                <a href={link(query('/instances', { q: job.filter }))}>{job.filter}</a>
              </dd>
            </>
          )}
          <dt>{t.when}</dt>
          <dd>{job.created_at && moment(job.created_at)}</dd>
        </dl>
        <div class="batchbar">
          <Progress job={{ ...job, failed: [] }} />
        </div>
        <section class="card" aria-label={t.items}>
          <div class="tablewrap" tabIndex={0} role="region" aria-label={t.items}>
            <table class="table is-stack">
              <thead>
                <tr>
                  <th>{t.instance}</th>
                  <th>{t.detail}</th>
                  <th>{t.outcome}</th>
                </tr>
              </thead>
              <tbody>
                {items.map((one) => (
                  <tr key={one.instance}>
                    <td class="ref">
                      <a class="plainlink mono" href={link(`/instances/${part(one.instance)}`)}>
                        {short_id(one.instance)}
                      </a>
                    </td>
                    <td class="muted">{one.detail}</td>
                    <td>
                      <Status tone={tones[one.outcome]} word={t.outcomes[one.outcome]} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </section>
        {next && (
          <button class="btn" type="button" onClick={() => void load(next)}>
            {t.more}
          </button>
        )}
      </div>
    </main>
  );
}
