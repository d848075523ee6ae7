// What can be done to an instance. Each action asks for a reason, which the audit trail keeps.
import { useState } from 'preact/hooks';
import { part, Problem, send } from '../api';
import type { Instance } from '../api_types';
import { main_wait } from '../instance_status';
import { parse, type Json } from '../json/lossless';
import { CodeField } from '../form/json_field';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { words } from '../words';
import { EditState } from './edit_state';

export type Action = 'retry' | 'skip' | 'suspend' | 'resume' | 'cancel' | 'edit' | 'signal' | 'delete';

// The actions that make sense now; the page offers only these.
export function actions_for(instance: Instance): Action[] {
  switch (instance.status) {
    case 'suspended': return instance.error ? ['retry', 'edit', 'skip', 'signal', 'cancel'] : ['resume', 'edit', 'signal', 'cancel'];
    case 'running':
    case 'waiting': return ['signal', 'suspend', 'cancel'];
    default: return ['delete'];
  }
}

interface Props {
  action: Action;
  instance: Instance;
  name: string;
  onClose: () => void;
  onDone: () => void;
}

export function ActionDialog(props: Props) {
  if (props.action === 'edit') return <EditState {...props} />;
  return <Confirm {...props} action={props.action} />;
}

function Confirm({ action, instance, name, onClose, onDone }: Props & { action: Exclude<Action, 'edit'> }) {
  const t = words.value.actions;
  const wait = main_wait(instance.waits?.filter((one) => one.kind === 'signal'));
  const [reason, set_reason] = useState('');
  const [result, set_result] = useState(action === 'skip' ? 'null' : '{}');
  const [signal, set_signal] = useState(wait?.name ?? '');
  const [key, set_key] = useState(wait?.key === null || wait?.key === undefined ? '' : String(wait.key));
  const [error, set_error] = useState('');
  const [busy, set_busy] = useState(false);
  const said = t[action];
  const run = async () => {
    set_busy(true);
    set_error('');
    try {
      const at = `/v1/instances/${part(instance.id)}`;
      const why = reason.trim();
      const options = { reason: why, match: action === 'signal' || action === 'delete' ? undefined : instance.state_version };
      if (action === 'skip') await send('POST', `${at}/skip`, { result: parse(result || 'null') }, options);
      else if (action === 'signal') await send('POST', `${at}/signals`, { name: signal.trim(), key: key === '' ? null : key, payload: parse(result || 'null') } as Json, options);
      else if (action === 'delete') await send('DELETE', at, undefined, options);
      else await send('POST', `${at}/${action}`, why ? { reason: why } : {}, options);
      toast(said.done(name));
      onDone();
      onClose();
    } catch (problem) {
      set_error(problem instanceof Problem && problem.status === 412 ? t.moved : reason_of(problem));
      set_busy(false);
    }
  };
  const danger = action === 'cancel' || action === 'delete';
  return (
    <Dialog
      title={said.title(name)}
      onClose={onClose}
      onSubmit={() => void run()}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class={danger ? 'btn is-fill-danger' : 'btn is-primary'} type="submit" disabled={busy || (action === 'signal' && !signal.trim())}>
            {said.button}
          </button>
        </>
      }
    >
      <p class="soft">{said.text}</p>
      {action === 'signal' && (
        <div class="pair">
          <div class="f">
            <label for="signal-name">{t.signal_name}</label>
            <input class="input mono" id="signal-name" value={signal} autocomplete="off" onInput={(event) => set_signal(event.currentTarget.value)} />
          </div>
          <div class="f">
            <label for="signal-key">
              {t.signal_key} <span class="opt">{words.value.form.optional}</span>
            </label>
            <input class="input mono" id="signal-key" value={key} autocomplete="off" onInput={(event) => set_key(event.currentTarget.value)} />
          </div>
        </div>
      )}
      {(action === 'skip' || action === 'signal') && <CodeField id="action-json" label={action === 'skip' ? t.skip_result : t.signal_payload} text={result} onText={set_result} />}
      <div class="f">
        <label for="action-reason">
          {t.reason} <span class="opt">{words.value.form.optional}</span>
        </label>
        <input class="input" id="action-reason" value={reason} autocomplete="off" onInput={(event) => set_reason(event.currentTarget.value)} />
        <span class="help">{t.kept}</span>
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
