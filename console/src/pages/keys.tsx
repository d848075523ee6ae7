import { useState } from 'preact/hooks';
import { get, part, send } from '../api';
import { is_object, type Json } from '../json/lossless';
import { useResource } from '../resource';
import { useTitle } from '../shell/crumbs';
import { Confirm } from '../ui/confirm';
import { Command, CopyButton } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { ListPage, Scroller } from '../ui/page';
import { Empty, reason_of } from '../ui/states';
import { Status } from '../ui/status';
import { toast } from '../ui/toast';
import { is_past, moment, words } from '../words';

interface Key {
  id: string;
  subject: string;
  roles: string[];
  note?: string;
  created_at?: string;
  expires_at?: string | null;
  revoked_at?: string | null;
  scope?: { prefixes?: string[]; task_roles?: string[] };
}
const roles = ['viewer', 'task_worker', 'starter', 'worker', 'operator', 'deployer', 'admin'] as const;

export default function KeysPage() {
  const t = words.value.keys;
  useTitle(words.value.nav.keys);
  const [making, set_making] = useState(false);
  const [revoking, set_revoking] = useState<Key | null>(null);
  const list = useResource('keys', (signal) => get<{ items: Key[] }>('/v1/keys', signal));
  return (
    <ListPage
      title={words.value.nav.keys}
      sub={t.sub}
      source={list}
      actions={
        <>
          <Command text="cairn keys list" />
          <button class="btn is-primary is-keep" type="button" onClick={() => set_making(true)}>
            <Icon name="plus" />
            {t.create}
          </button>
        </>
      }
    >
      {(page) => (
        <>
          {page.items.length === 0 ? (
            <Empty icon="key" title={t.none}>
              <p>{t.none_text}</p>
            </Empty>
          ) : (
            <Scroller label={words.value.nav.keys}>
              <table class="table is-stack cols-keys">
                <thead>
                  <tr>
                    <th>{t.subject}</th>
                    <th>{t.roles}</th>
                    <th class="wide-only">{t.note}</th>
                    <th class="wide-only">{t.created}</th>
                    <th>{t.status}</th>
                    <th class="is-num" />
                  </tr>
                </thead>
                <tbody>
                  {page.items.map((key) => {
                    const over = key.revoked_at || (key.expires_at && is_past(key.expires_at));
                    return (
                      <tr key={key.id} class={over ? 'is-ended' : ''}>
                        <td class="ref">
                          {key.subject} <span class="mono muted">{key.id}</span>
                        </td>
                        <td>{[...key.roles, ...(key.scope?.task_roles ?? []), ...(key.scope?.prefixes ?? [])].join(', ')}</td>
                        <td class="wide-only muted">{key.note}</td>
                        <td class="wide-only muted">{key.created_at && moment(key.created_at)}</td>
                        <td>{key.revoked_at ? <Status tone="cancelled" word={t.revoked} /> : over ? <Status tone="cancelled" icon="time" word={t.expired} /> : <Status tone="completed" word={key.expires_at ? t.until(moment(key.expires_at)) : t.valid} />}</td>
                        <td class="is-num">
                          {!over && (
                            <button class="btn is-s" type="button" onClick={() => set_revoking(key)}>
                              {t.revoke}
                            </button>
                          )}
                        </td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </Scroller>
          )}
          {making && <Create onClose={() => set_making(false)} onDone={list.reload} />}
          {revoking && (
            <Confirm
              title={t.revoke_title(revoking.subject)}
              text={t.revoke_text}
              button={t.revoke}
              danger
              onClose={() => set_revoking(null)}
              run={async (reason) => {
                await send('DELETE', `/v1/keys/${part(revoking.id)}`, undefined, { reason });
                toast(t.revoked_done(revoking.subject));
                list.reload();
              }}
            />
          )}
        </>
      )}
    </ListPage>
  );
}

function Create({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const t = words.value.keys;
  const [subject, set_subject] = useState('');
  const [chosen, set_chosen] = useState<string[]>(['viewer']);
  const [task_roles, set_task_roles] = useState('');
  const [prefixes, set_prefixes] = useState('');
  const [expires, set_expires] = useState('90d');
  const [note, set_note] = useState('');
  const [secret, set_secret] = useState('');
  const [error, set_error] = useState('');
  const list = (text: string) => text.split(/[\s,]+/).filter(Boolean);
  const go = async () => {
    try {
      const scope: { [name: string]: Json } = {};
      if (list(task_roles).length) scope.task_roles = list(task_roles);
      if (list(prefixes).length) scope.prefixes = list(prefixes);
      const answer = await send<Json>('POST', '/v1/keys', { subject: subject.trim(), roles: chosen, ...(Object.keys(scope).length ? { scope } : {}), ...(expires ? { expires_in: expires } : {}), ...(note ? { note } : {}) });
      set_secret(is_object(answer) ? String(answer.key ?? answer.secret ?? answer.token ?? '') : '');
      onDone();
    } catch (problem) {
      set_error(reason_of(problem));
    }
  };
  if (secret) {
    return (
      <Dialog
        title={t.made}
        onClose={onClose}
        actions={
          <button class="btn is-primary" type="button" onClick={onClose}>
            {t.kept_it}
          </button>
        }
      >
        <p class="soft">{t.only_once}</p>
        <div class="cmd is-full">
          <span class="grow cut">{secret}</span>
          <CopyButton text={secret} label={words.value.common.copy_id} />
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog
      title={t.create_title}
      onClose={onClose}
      onSubmit={() => void go()}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn is-primary" type="submit" disabled={!subject.trim() || chosen.length === 0}>
            {t.create}
          </button>
        </>
      }
    >
      <div class="f">
        <label for="key-subject">{t.subject}</label>
        <input class="input" id="key-subject" value={subject} autocomplete="off" onInput={(event) => set_subject(event.currentTarget.value)} />
      </div>
      <fieldset class="f">
        <legend>{t.roles}</legend>
        <div class="checks">
          {roles.map((role) => (
            <label class="row" key={role}>
              <input class="check" type="checkbox" checked={chosen.includes(role)} onChange={() => set_chosen(chosen.includes(role) ? chosen.filter((one) => one !== role) : [...chosen, role])} />
              <span>
                {role} <span class="muted t12">{t.role_text[role]}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {chosen.includes('task_worker') && (
        <div class="f">
          <label for="key-task-roles">{t.task_roles}</label>
          <input class="input" id="key-task-roles" value={task_roles} placeholder="underwriter, support" onInput={(event) => set_task_roles(event.currentTarget.value)} />
        </div>
      )}
      {chosen.includes('worker') && (
        <div class="f">
          <label for="key-prefixes">{t.prefixes}</label>
          <input class="input" id="key-prefixes" value={prefixes} placeholder="billing." onInput={(event) => set_prefixes(event.currentTarget.value)} />
        </div>
      )}
      <div class="pair">
        <div class="f">
          <label for="key-expires">{t.expires}</label>
          <input class="input" id="key-expires" value={expires} onInput={(event) => set_expires(event.currentTarget.value)} />
          <span class="help">{t.expires_help}</span>
        </div>
        <div class="f">
          <label for="key-note">
            {t.note} <span class="opt">{words.value.form.optional}</span>
          </label>
          <input class="input" id="key-note" value={note} onInput={(event) => set_note(event.currentTarget.value)} />
        </div>
      </div>
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
