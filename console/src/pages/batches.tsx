// Bulk actions: who did what to how many, and how it went.
import { part, get } from '../api';
import type { BulkProgress, BulkProgressPage } from '../api_types';
import { link } from '../base_path';
import { Meter } from '../bulk/progress';
import { through } from '../bulk/jobs';
import { useResource } from '../resource';
import { useTitle } from '../shell/crumbs';
import { Status } from '../ui/status';
import { Broken, Empty, Loading } from '../ui/states';
import { Ago } from '../ui/when';
import { count, words } from '../words';

export const job_tone = (job: BulkProgress) => (job.state === 'running' ? 'running' : job.state === 'finished' ? (job.failed_count ? 'failed' : 'completed') : job.state === 'paused' ? 'suspended' : 'cancelled') as 'running' | 'failed' | 'completed' | 'suspended' | 'cancelled';
export const verb_of = (job: BulkProgress): { do: string; doing: string; done: string } => (words.value.bulk.verbs as Record<string, { do: string; doing: string; done: string }>)[job.action] ?? { do: job.action, doing: job.action, done: job.action };

export default function BatchesPage() {
  const t = words.value.batches;
  useTitle(words.value.nav.batches);
  const found = useResource('batches', (signal) => get<BulkProgressPage>('/v1/bulk', signal), { poll: 2000 });
  const jobs = found.value?.items.filter((one) => one.state !== 'preview') ?? [];
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{words.value.nav.batches}</h1>
        <span class="sub">{t.sub}</span>
      </div>
      {found.error && !found.value ? (
        <Broken error={found.error} retry={found.reload} />
      ) : !found.value ? (
        <Loading />
      ) : jobs.length === 0 ? (
        <Empty icon="instances" title={t.none}>
          <p>{t.none_text}</p>
          <a class="btn" href={link('/instances')}>
            {words.value.nav.instances}
          </a>
        </Empty>
      ) : (
        <div class="tablewrap grow" tabIndex={0} role="region" aria-label={words.value.nav.batches}>
          <table class="table is-stack is-tall">
            <thead>
              <tr>
                <th>{t.what}</th>
                <th>{t.status}</th>
                <th>{t.progress}</th>
                <th>{t.who}</th>
                <th>{t.why}</th>
                <th>{t.when}</th>
              </tr>
            </thead>
            <tbody>
              {jobs.map((job) => (
                <tr key={job.id}>
                  <td class="ref">
                    <a class="plainlink" href={link(`/batches/${part(job.id)}`)}>
                      {verb_of(job).do} {count(job.total)}
                    </a>
                  </td>
                  <td>
                    <Status tone={job_tone(job)} word={t.states[job.state]} />
                  </td>
                  <td class="meters">
                    <Meter job={job} />
                    <span class="muted t12 nowrap">
                      {count(through(job))} / {count(job.total)}
                      {job.failed_count > 0 && <span class="late"> · {t.failed(count(job.failed_count))}</span>}
                    </span>
                  </td>
                  <td>{job.person}</td>
                  <td class="muted cut">{job.reason || <span class="mono t12">{job.filter}</span>}</td>
                  <td class="muted">{job.created_at && <Ago at={job.created_at} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </main>
  );
}
