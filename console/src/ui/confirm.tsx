// A question before something that cannot be taken back, with a reason for the audit trail.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { words } from '../words';
import { Dialog } from './dialog';
import { Icon } from './icon';
import { reason_of } from './states';

export function Confirm({ title, text, button, danger, run, onClose, children }: { title: string; text: string; button: string; danger?: boolean; run: (reason: string) => Promise<unknown>; onClose: () => void; children?: ComponentChildren }) {
  const [reason, set_reason] = useState('');
  const [error, set_error] = useState('');
  const [busy, set_busy] = useState(false);
  const go = async () => {
    set_busy(true);
    try {
      await run(reason.trim());
      onClose();
    } catch (problem) {
      set_error(reason_of(problem));
      set_busy(false);
    }
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => void go()}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class={danger ? 'btn is-fill-danger' : 'btn is-primary'} type="submit" disabled={busy}>
            {button}
          </button>
        </>
      }
    >
      <p class="soft">{text}</p>
      {children}
      <div class="f">
        <label for="confirm-reason">
          {words.value.actions.reason} <span class="opt">{words.value.form.optional}</span>
        </label>
        <input class="input" id="confirm-reason" value={reason} autocomplete="off" onInput={(event) => set_reason(event.currentTarget.value)} />
        <span class="help">{words.value.actions.kept}</span>
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
