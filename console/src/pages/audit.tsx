import { useState } from 'preact/hooks';
import { get } from '../api';
import { link } from '../base_path';
import type { AuditReport, AuditRow } from '../api_types';
import { last_audit_rows } from '../last_rows';
import { useResource } from '../resource';
import { useTitle } from '../shell/crumbs';
import { Command, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { ListPage, Scroller } from '../ui/page';
import { Empty, reason_of } from '../ui/states';
import { exact, moment, words } from '../words';

// The instance or task that a row is about, as a link.
function Resource({ path }: { path: string }) {
  const [, kind, id] = /^\/v1\/(instances|tasks)\/([^/]+)/.exec(path) ?? [];
  if (!kind || !id) return <>{path}</>;
  return <a href={link(kind === 'tasks' ? `/inbox/${id}` : `/instances/${id}`)}>{short_id(decodeURIComponent(id))}</a>;
}

export default function AuditPage() {
  const t = words.value.audit;
  useTitle(words.value.nav.audit);
  const [find, set_find] = useState('');
  const [verdict, set_verdict] = useState<{ text: string; good: boolean } | null>(null);
  const list = useResource('audit', async (signal) => (await last_audit_rows(signal)).reverse(), { live: () => true, least: 5000 });
  const check = async () => {
    try {
      const answer = await get<AuditReport>('/v1/audit/verify');
      set_verdict(answer.intact === true ? { text: t.intact(String(answer.rows)), good: true } : { text: t.broken(String(answer.broken_at ?? ''), answer.why ?? ''), good: false });
    } catch (problem) {
      set_verdict({ text: reason_of(problem), good: false });
    }
  };
  const word = (row: AuditRow) => t.what[row.what as keyof typeof t.what] ?? row.what;
  return (
    <ListPage
      title={words.value.nav.audit}
      sub={t.sub}
      source={list}
      actions={
        <>
          <Command text="cairn audit list" />
          <button class="btn" type="button" onClick={() => void check()}>
            <Icon name="shield" />
            {t.verify}
          </button>
        </>
      }
      above={
        <>
          {verdict && (
            <div class="banner" data-st={verdict.good ? 'running' : 'failed'} role={verdict.good ? 'status' : 'alert'}>
              <Icon name={verdict.good ? 'shield' : 'failed'} />
              <span class="grow">{verdict.text}</span>
            </div>
          )}
          <div class="filter">
            <Icon name="filter" />
            <input class="field" aria-label={t.find} placeholder={t.find} value={find} onInput={(event) => set_find(event.currentTarget.value)} />
          </div>
        </>
      }
    >
      {(rows) => {
        const shown = rows.filter((row) => !find || `${row.who} ${row.what} ${word(row)} ${row.resource} ${row.why}`.toLowerCase().includes(find.toLowerCase()));
        return shown.length === 0 ? (
          <Empty icon="audit" title={t.none} />
        ) : (
          <Scroller label={words.value.nav.audit}>
            <table class="table is-stack cols-audit">
              <thead>
                <tr>
                  <th>{t.when}</th>
                  <th>{t.who}</th>
                  <th>{t.did}</th>
                  <th class="wide-only">{t.resource}</th>
                  <th>{t.why}</th>
                  <th class="is-num wide-only">{t.number}</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((row) => (
                  <tr key={row.sequence}>
                    <td title={exact(row.at)}>{moment(row.at)}</td>
                    <td class="strong">{row.who}</td>
                    <td>{word(row)}</td>
                    <td class="mono muted wide-only" title={row.resource}>
                      <Resource path={row.resource} />
                    </td>
                    <td title={row.why}>{row.why}</td>
                    <td class="mono muted is-num wide-only">{row.sequence}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroller>
        );
      }}
    </ListPage>
  );
}
