// Saved views: a name for a filter. The server keeps them, so they are there on every machine; operators can share them.
import { useState } from 'preact/hooks';
import { get, part, query, send } from '../api';
import type { View, ViewPage } from '../api_types';
import { link } from '../base_path';
import { useResource } from '../resource';
import { may } from '../session';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { words } from '../words';

const new_id = (): string => `v${Date.now().toString(36)}${Math.random().toString(36).slice(2, 6)}`;
export type { View };

export function Views({ text }: { text: string; onChoose: (text: string) => void }) {
  const t = words.value.views;
  const [asking, set_asking] = useState(false);
  const [name, set_name] = useState('');
  const [shared, set_shared] = useState(false);
  const found = useResource('views', (signal) => get<ViewPage>('/v1/views', signal), { poll: 60000 });
  const saved = (found.value?.items ?? []).filter((one) => one.page !== 'inbox');
  const fixed: { name: string; filter: string }[] = [
    { name: t.all, filter: '' },
    { name: t.attention, filter: 'status:suspended' },
    { name: t.retrying, filter: 'status:retrying' },
    { name: t.waiting, filter: 'status:waiting' },
    { name: t.failed, filter: 'status:failed' },
  ];
  const own = saved.find((one) => one.own && one.filter === text);
  const known = [...fixed, ...saved].some((one) => one.filter === text);
  const save = () => {
    const title = name.trim();
    if (!title) return;
    const old = saved.find((one) => one.own && one.name === title);
    change('PUT', old?.id ?? new_id(), { name: title, page: 'instances', filter: text, ...(shared ? { shared } : {}) });
    set_asking(false);
    set_name('');
    set_shared(false);
  };
  const change = (method: 'PUT' | 'DELETE', id: string, body?: { name: string; page: string; filter: string; shared?: boolean }) =>
    void send(method, `/v1/views/${part(id)}`, body).then(found.reload, (problem) => toast(reason_of(problem), undefined, true));
  return (
    <nav class="tabs" aria-label={t.label}>
      {fixed.map((one) => (
        <a key={one.filter} href={link(query('/instances', { q: one.filter }))} aria-current={one.filter === text ? 'page' : undefined}>
          {one.name}
        </a>
      ))}
      {saved.map((one) => (
        <a key={`${one.owner}/${one.id}`} href={link(query('/instances', { q: one.filter }))} aria-current={one.filter === text ? 'page' : undefined} title={one.own ? undefined : t.of(one.owner)}>
          {one.shared && <Icon name="users" size={12} />}
          {one.name}
        </a>
      ))}
      <span class="end">
        {!known && (
          <button class="btn is-quiet is-s" type="button" onClick={() => set_asking(true)}>
            <Icon name="bookmark" />
            {t.save}
          </button>
        )}
        {text && may('operate') && (
          <a class="btn is-quiet is-s" href={link(query('/alerts', { filter: text }))}>
            <Icon name="bell" />
            {t.alert}
          </a>
        )}
        {own && (
          <button class="btn is-quiet is-s" type="button" onClick={() => change('DELETE', own.id)}>
            <Icon name="x" size={12} />
            {t.forget}
          </button>
        )}
      </span>
      {asking && (
        <Dialog
          title={t.save_title}
          onClose={() => set_asking(false)}
          onSubmit={save}
          actions={
            <>
              <button class="btn" type="button" onClick={() => set_asking(false)}>
                {words.value.common.not_now}
              </button>
              <button class="btn is-primary" type="submit" disabled={!name.trim()}>
                {t.save}
              </button>
            </>
          }
        >
          <div class="f">
            <label for="view-name">{t.name}</label>
            <input class="input" id="view-name" value={name} autocomplete="off" onInput={(event) => set_name(event.currentTarget.value)} />
            <span class="help mono">{text}</span>
          </div>
          {may('operate') && (
            <label class="row">
              <input class="check" type="checkbox" checked={shared} onChange={(event) => set_shared(event.currentTarget.checked)} />
              {t.share}
            </label>
          )}
        </Dialog>
      )}
    </nav>
  );
}
