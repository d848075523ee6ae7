// A link with which one person answers this task, without an account.
import { useState } from 'preact/hooks';
import { part, send } from '../api';
import type { Task, TaskLink } from '../api_types';
import { CopyButton } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { moment, words } from '../words';

const lifetimes = ['24h', '72h', '7d', '30d'] as const;

export function LinkDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const t = words.value.link;
  const [person, set_person] = useState(task.assignee ?? '');
  const [lasts, set_lasts] = useState<string>('72h');
  const [made, set_made] = useState<TaskLink | null>(null);
  const [error, set_error] = useState('');
  const make = () => send<TaskLink>('POST', `/v1/tasks/${part(task.id)}/link`, { person: person.trim(), expires_in: lasts }).then(set_made, (problem) => set_error(reason_of(problem)));
  const address = made ? location.origin + made.path : '';
  return (
    <Dialog
      title={t.title(task.title)}
      onClose={onClose}
      onSubmit={() => !made && person.trim() && void make()}
      actions={
        made ? (
          <button class="btn is-primary" type="button" onClick={onClose}>
            {t.close}
          </button>
        ) : (
          <>
            <button class="btn" type="button" onClick={onClose}>
              {words.value.common.not_now}
            </button>
            <button class="btn is-primary" type="submit" disabled={!person.trim()}>
              {t.make}
            </button>
          </>
        )
      }
    >
      {made ? (
        <>
          <p class="soft">{t.made(made.person, moment(made.expires_at))}</p>
          <div class="row">
            <code class="mono cut grow linktext">{address}</code>
            <CopyButton text={address} label={t.copy} />
          </div>
        </>
      ) : (
        <>
          <p class="soft">{t.text}</p>
          <div class="f">
            <label for="link-person">{t.person}</label>
            <input class="input" id="link-person" value={person} autocomplete="off" onInput={(event) => set_person(event.currentTarget.value)} />
          </div>
          <div class="f">
            <label for="link-lasts">{t.lasts}</label>
            <select class="input" id="link-lasts" value={lasts} onChange={(event) => set_lasts(event.currentTarget.value)}>
              {lifetimes.map((one) => (
                <option key={one} value={one}>
                  {t.lifetimes[one]}
                </option>
              ))}
            </select>
          </div>
          {error && (
            <div class="f">
              <span class="error" role="alert">
                <Icon name="suspended" />
                {error}
              </span>
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}
