import { useState } from 'preact/hooks';
import { get, query } from '../api';
import { link } from '../base_path';
import type { AuditRow, AuditRowPage } from '../api_types';
import type { Json } from '../json/lossless';
import { useResource } from '../resource';
import { useTitle } from '../shell/crumbs';
import { Command, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { ListPage, Scroller } from '../ui/page';
import { Empty, reason_of } from '../ui/states';
import { exact, moment, words } from '../words';

// The trail is oldest first and the cursor is the number of a row: go ahead until it ends, then show the last rows first.
async function newest(signal: AbortSignal): Promise<AuditRow[]> {
  const from = (cursor: number) => get<AuditRowPage>(query('/v1/audit', { limit: 200, cursor: cursor || undefined }), signal);
  let low = 0;
  let page = await from(0);
  let high = 400;
  while (page.next_cursor && high < 1e9) {
    const ahead = await from(high);
    if (ahead.items.length === 0) break;
    low = high;
    page = ahead;
    high *= 2;
  }
  while (high - low > 200 && page.next_cursor) {
    const middle = Math.floor((low + high) / 2);
    const found = await from(middle);
    if (found.items.length === 0) high = middle;
    else {
      low = middle;
      page = found;
      if (!found.next_cursor) break;
    }
  }
  return [...page.items].reverse();
}

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
  const [verdict, set_verdict] = useState('');
  const list = useResource('audit', newest, { live: () => true, least: 5000 });
  const check = async () => {
    try {
      const answer = await get<{ valid?: boolean; ok?: boolean; rows?: number; [name: string]: Json | undefined }>('/v1/audit/verify');
      const broken = answer.valid === false || answer.ok === false || answer.broken !== undefined && answer.broken !== null;
      set_verdict(broken ? t.broken : t.intact(String(answer.rows ?? answer.checked ?? list.value?.[0]?.sequence ?? '')));
    } catch (problem) {
      set_verdict(reason_of(problem));
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
          <Command text="cairn audit" />
          <button class="btn" type="button" onClick={() => void check()}>
            <Icon name="shield" />
            {t.verify}
          </button>
        </>
      }
      above={
        <>
          {verdict && (
            <div class="banner" data-st="running" role="status">
              <Icon name="shield" />
              <span class="grow">{verdict}</span>
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
