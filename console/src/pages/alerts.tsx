// Alerts: which filters raise one, and which are raised now.
import { useLocation } from 'preact-iso/router';
import { useEffect, useState } from 'preact/hooks';
import { get, part, query, send } from '../api';
import type { Alert, AlertPage } from '../api_types';
import { link } from '../base_path';
import { useResource } from '../resource';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { Status } from '../ui/status';
import { Broken, Empty, Loading, reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { Ago } from '../ui/when';
import { count, words } from '../words';

export default function AlertsPage() {
  const t = words.value.alerts;
  useTitle(words.value.nav.alerts);
  const { query: url, route } = useLocation();
  const [making, set_making] = useState<{ filter: string } | null>(url.filter !== undefined ? { filter: url.filter } : null);
  const found = useResource('alerts', (signal) => get<AlertPage>('/v1/alerts', signal), { live: (event) => event.type.startsWith('cairn.alert.'), poll: 5000, always: true });
  useEffect(() => {
    if (url.filter !== undefined) route(link('/alerts'), true);
  }, []);
  const change = (method: 'PUT' | 'DELETE', id: string, body?: { name: string; filter: string; more_than: number; for?: string }) =>
    send(method, `/v1/alerts/${part(id)}`, body).then(found.reload);
  const alerts = found.value?.items ?? [];
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{words.value.nav.alerts}</h1>
        <span class="sub">{t.sub}</span>
        <div class="actions">
          {may('operate') && (
            <button class="btn is-primary is-keep" type="button" onClick={() => set_making({ filter: 'status:suspended' })}>
              <Icon name="plus" />
              {t.create}
            </button>
          )}
        </div>
      </div>
      {found.error && !found.value ? (
        <Broken error={found.error} retry={found.reload} />
      ) : !found.value ? (
        <Loading />
      ) : alerts.length === 0 ? (
        <Empty icon="bell" title={t.none}>
          <p>{t.none_text}</p>
        </Empty>
      ) : (
        <div class="tablewrap grow" tabIndex={0} role="region" aria-label={words.value.nav.alerts}>
          <table class="table is-stack">
            <thead>
              <tr>
                <th>{t.name}</th>
                <th>{t.status}</th>
                <th>{t.when}</th>
                <th>{t.filter}</th>
                <th>{t.owner}</th>
                {may('operate') && <th />}
              </tr>
            </thead>
            <tbody>
              {alerts.map((one) => (
                <tr key={one.id}>
                  <td class="ref">
                    <a class="plainlink" href={link(query('/instances', { q: one.filter }))}>
                      {one.name}
                    </a>
                  </td>
                  <td>
                    <State alert={one} />
                  </td>
                  <td>{one.for ? t.more_for(count(one.more_than), one.for) : t.more(count(one.more_than))}</td>
                  <td class="mono t12 cut">{one.filter}</td>
                  <td class="muted">{one.owner}</td>
                  {may('operate') && (
                    <td>
                      <button class="btn is-s is-quiet" type="button" onClick={() => void change('DELETE', one.id).catch((problem) => toast(reason_of(problem), undefined, true))}>
                        <Icon name="x" size={12} />
                        {t.remove}
                      </button>
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {making && <Create filter={making.filter} onClose={() => set_making(null)} onSave={(alert) => change('PUT', `a${Date.now().toString(36)}`, alert)} />}
    </main>
  );
}

function State({ alert }: { alert: Alert }) {
  const t = words.value.alerts;
  if (alert.raised) {
    return (
      <>
        <Status tone="suspended" icon="bell" word={t.raised} /> {alert.raised_at && <span class="muted t12"><Ago at={alert.raised_at} /></span>}
      </>
    );
  }
  return alert.exceeds_since ? <Status tone="retrying" icon="time" word={t.counting} /> : <Status tone="completed" word={t.quiet} />;
}

function Create({ filter, onClose, onSave }: { filter: string; onClose: () => void; onSave: (alert: { name: string; filter: string; more_than: number; for?: string }) => Promise<unknown> }) {
  const t = words.value.alerts;
  const [name, set_name] = useState('');
  const [text, set_text] = useState(filter);
  const [most, set_most] = useState('10');
  const [lasts, set_lasts] = useState('');
  const [error, set_error] = useState('');
  const save = () =>
    onSave({ name: name.trim(), filter: text.trim(), more_than: Number(most), ...(lasts.trim() ? { for: lasts.trim() } : {}) }).then(onClose, (problem) => set_error(reason_of(problem)));
  const field = (id: string, label: string, value: string, set: (value: string) => void, help?: string, mono = false) => (
    <div class="f">
      <label for={id}>{label}</label>
      <input class={mono ? 'input mono' : 'input'} id={id} value={value} autocomplete="off" spellcheck={!mono} onInput={(event) => set(event.currentTarget.value)} />
      {help && <span class="help">{help}</span>}
    </div>
  );
  return (
    <Dialog
      title={t.create}
      onClose={onClose}
      onSubmit={() => void save()}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn is-primary" type="submit" disabled={!name.trim() || !text.trim() || !/^\d{1,4}$/.test(most)}>
            {t.create}
          </button>
        </>
      }
    >
      {field('alert-name', t.name, name, set_name)}
      {field('alert-filter', t.filter, text, set_text, t.filter_help, true)}
      {field('alert-most', t.most, most, set_most)}
      {field('alert-for', t.lasts, lasts, set_lasts, t.lasts_help)}
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
