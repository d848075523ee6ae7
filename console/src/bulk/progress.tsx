// How far a bulk action is, and what did not work.
import { useEffect, useState } from 'preact/hooks';
import { part } from '../api';
import type { BulkProgress } from '../api_types';
import { link } from '../base_path';
import { short_id } from '../ui/copy';
import { reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { count, words } from '../words';
import { change_job, job_of, through, type JobChange } from './jobs';

// Follows a job as long as it runs; asks again when the server was away.
export function useJob(id: string | null): { job: BulkProgress | null; change: (to: JobChange) => Promise<void>; error: Error | null } {
  const [job, set_job] = useState<BulkProgress | null>(null);
  const [error, set_error] = useState<Error | null>(null);
  const [round, set_round] = useState(0);
  useEffect(() => {
    if (!id) return;
    const stop = new AbortController();
    const follow = async () => {
      let seen: number | undefined;
      while (!stop.signal.aborted) {
        try {
          const now = await job_of(id, seen, stop.signal);
          set_job(now);
          set_error(null);
          if (now.state !== 'running') return;
          seen = through(now);
        } catch (problem) {
          if (stop.signal.aborted) return;
          set_error(problem as Error);
          seen = undefined;
          await new Promise((go) => setTimeout(go, 1500));
        }
      }
    };
    void follow();
    return () => stop.abort();
  }, [id, round]);
  const change = async (to: JobChange) => {
    try {
      set_job(await change_job(id!, to));
      set_round((old) => old + 1);
    } catch (problem) {
      toast(reason_of(problem), undefined, true);
    }
  };
  return { job, change, error };
}

export function Meter({ job }: { job: BulkProgress }) {
  const percent = job.total ? (through(job) / job.total) * 100 : 100;
  const bad = job.total ? (job.failed_count / job.total) * 100 : 0;
  const tone = job.state === 'finished' ? 'completed' : job.state === 'cancelled' ? 'cancelled' : 'running';
  return (
    <svg class="meter is-thick" data-st={tone} viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label={`${Math.round(percent)} %`}>
      <rect class="bg" width="100" height="6" />
      <rect class="fg" width={percent} height="6" />
      {bad > 0 && <rect class="bad" x={Math.max(0, percent - bad)} width={bad} height="6" />}
    </svg>
  );
}

export function Progress({ job }: { job: BulkProgress }) {
  const t = words.value.bulk;
  return (
    <>
      <p aria-live="polite">{t.progress(count(through(job)), count(job.total), count(job.failed_count))}</p>
      <Meter job={job} />
      {(job.failed?.length ?? 0) > 0 && (
        <ul class="list is-framed" tabIndex={0} aria-label={t.failed_list}>
          {(job.failed as { instance: string; detail: string }[]).slice(0, 100).map((one) => (
            <li key={one.instance}>
              <a href={link(`/instances/${part(one.instance)}`)}>{short_id(one.instance)}</a>
              <span class="muted t12">{one.detail}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
