// Everything that went wrong: one row for the same error at the same step.
import { useLocation } from 'preact-iso/router';
import { query } from '../api';
import { link } from '../base_path';
import { load_definitions, names, title_of_definition } from '../definitions';
import { useErrors } from '../error_groups';
import { ErrorRows } from '../home/error_rows';
import { useEffect } from 'preact/hooks';
import { useTitle } from '../shell/crumbs';
import { Broken, Empty, Loading } from '../ui/states';
import { count, words } from '../words';

const states = ['', 'suspended', 'retrying', 'failed'] as const;

export default function ErrorsPage() {
  const t = words.value.errors;
  useTitle(words.value.nav.errors);
  const { query: url, route } = useLocation();
  const status = url.status ?? '';
  const definition = url.definition ?? '';
  const found = useErrors('24h', { status, definition });
  useEffect(() => void load_definitions().catch(() => {}), []);
  const at = (values: Record<string, string>) => link(query('/errors', { status, definition, ...values }));
  const groups = found.value?.items ?? [];
  const touched = groups.reduce((sum, one) => sum + one.count, 0);
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{words.value.nav.errors}</h1>
        <span class="sub" aria-live="polite">
          {found.value && t.sub(count(groups.length), count(touched))}
        </span>
        <div class="actions">
          <select class="input select" aria-label={t.workflow} value={definition} onChange={(event) => route(at({ definition: event.currentTarget.value }))}>
            <option value="">{t.every_workflow}</option>
            {names().map((one) => (
              <option key={one} value={one}>
                {title_of_definition(one)}
              </option>
            ))}
          </select>
        </div>
      </div>
      <nav class="tabs" aria-label={t.which}>
        {states.map((one) => (
          <a key={one} href={at({ status: one })} aria-current={status === one ? 'page' : undefined}>
            {t.states[one || 'all']}
          </a>
        ))}
      </nav>
      <div class="pad">
        {found.error && !found.value ? (
          <Broken error={found.error} retry={found.reload} />
        ) : !found.value ? (
          <Loading />
        ) : groups.length === 0 ? (
          <Empty icon="completed" title={words.value.home.nothing_wrong}>
            <p>{t.none_text}</p>
          </Empty>
        ) : (
          <section class="card" aria-label={words.value.nav.errors}>
            <ErrorRows groups={groups} onDone={found.reload} />
          </section>
        )}
        {found.value && !found.value.complete && <p class="muted">{t.newest_only}</p>}
      </div>
    </main>
  );
}
