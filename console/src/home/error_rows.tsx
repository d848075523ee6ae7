// Errors, one row for the same error at the same step, with what can be done about all of them.
import { useState } from 'preact/hooks';
import { part, query } from '../api';
import { link } from '../base_path';
import { BulkDialog, type BulkAction } from '../bulk/bulk_dialog';
import { now } from '../clock';
import { title_of_definition } from '../definitions';
import type { ErrorGroup } from '../error_groups';
import { may } from '../session';
import { step_title } from '../step_titles';
import { Spark } from '../ui/spark';
import { clock_time, count, exact, is_past, moment, until, words } from '../words';

export function ErrorRows({ groups, onDone }: { groups: ErrorGroup[]; onDone: () => void }) {
  const [bulk, set_bulk] = useState<{ action: BulkAction; filter: string } | null>(null);
  return (
    <>
      <ul class="groups">
        {groups.map((group) => (
          <Row key={group.fingerprint} group={group} onBulk={(action) => set_bulk({ action, filter: group.filter })} />
        ))}
      </ul>
      {bulk && <BulkDialog {...bulk} onClose={() => set_bulk(null)} onDone={onDone} />}
    </>
  );
}

const when = (at: string): string => (now() - Date.parse(at) < 86_400_000 ? clock_time(at) : moment(at));

function Row({ group, onBulk }: { group: ErrorGroup; onBulk: (action: BulkAction) => void }) {
  const t = words.value.home;
  const rows = link(query('/instances', { q: group.filter }));
  const one = link(`/instances/${part(group.example)}`);
  const by_itself = group.status === 'retrying' ? `${t.by_themselves(group.next_at && !is_past(group.next_at) ? until(group.next_at) : '')} ` : '';
  return (
    <li data-st={group.status}>
      <a class="cnt plainlink" href={rows} aria-label={t.instances_with(count(group.count))}>
        {count(group.count)}
      </a>
      <span class="what">
        <span class="l1 cut">
          <a class="plainlink" href={rows}>
            {group.step ? step_title(group.definition, group.versions[group.versions.length - 1], group.step) : title_of_definition(group.definition)}
          </a>{' '}
          <span class="muted">· {title_of_definition(group.definition)}</span> {group.code && <code>{group.code}</code>}
        </span>
        <span class="l2">
          <span class="cut" title={group.message}>
            {by_itself}
            {group.message}
          </span>
          <a href={one}>{t.example}</a>
        </span>
      </span>
      <span class="hide-s">
        <Spark values={group.times} />
      </span>
      <span class="when hide-s" title={`${exact(group.first_at)} – ${exact(group.last_at)}`}>
        {t.since(when(group.first_at))}
        {group.count > 1 && <small>{t.last(when(group.last_at))}</small>}
      </span>
      {group.count === 1 ? (
        <a class="btn is-s" href={one}>
          {group.status === 'suspended' && may('operate') ? t.fix : t.open}
        </a>
      ) : group.status === 'suspended' && may('operate') ? (
        <button class="btn is-s" type="button" onClick={() => onBulk('retry')}>
          {t.retry(count(group.count))}
        </button>
      ) : group.status === 'retrying' && may('operate') ? (
        <button class="btn is-s" type="button" onClick={() => onBulk('suspend')}>
          {t.hold(count(group.count))}
        </button>
      ) : (
        <a class="btn is-s" href={rows}>
          {t.open}
        </a>
      )}
    </li>
  );
}
