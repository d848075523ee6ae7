// Fix the state of a suspended instance: an editor, what changes, a reason; then retry.
import { useMemo, useState } from 'preact/hooks';
import { part, Problem, send } from '../api';
import type { Instance, InstanceAnswer } from '../api_types';
import { CodeField } from '../form/json_field';
import { diff_lines } from '../json/lines';
import { is_object, parse, same, stringify, type JsonObject } from '../json/lossless';
import { patch_of } from '../json/merge_patch';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { words } from '../words';

export function EditState({ instance, name, onClose, onDone }: { instance: Instance; name: string; onClose: () => void; onDone: () => void }) {
  const t = words.value.edit;
  const before = (instance.state ?? {}) as JsonObject;
  const [text, set_text] = useState(stringify(before, 2));
  const [reason, set_reason] = useState('');
  const [error, set_error] = useState('');
  const [busy, set_busy] = useState(false);
  const after = useMemo<JsonObject | string>(() => {
    try {
      const value = parse(text);
      return is_object(value) ? value : t.object;
    } catch (problem) {
      return words.value.form.no_json((problem as Error).message);
    }
  }, [text]);
  const changed = typeof after !== 'string' && !same(before, after);
  const save = async (retry: boolean) => {
    if (typeof after === 'string') return;
    if (!reason.trim()) {
      set_error(t.why_missing);
      return;
    }
    set_busy(true);
    set_error('');
    try {
      const at = `/v1/instances/${part(instance.id)}`;
      const answer = await send<InstanceAnswer>('PATCH', `${at}/state`, patch_of(before, after), { reason: reason.trim(), match: instance.state_version });
      if (retry) await send('POST', `${at}/retry`, { reason: reason.trim() }, { match: answer.state_version });
      toast(retry ? t.retried(name) : t.saved(name));
      onDone();
      onClose();
    } catch (problem) {
      set_error(problem instanceof Problem && problem.status === 412 ? words.value.actions.moved : reason_of(problem));
      set_busy(false);
      onDone();
    }
  };
  const lines = typeof after === 'string' ? [] : diff_lines(before, after).filter((line) => line.mark);
  return (
    <Dialog
      title={t.title(name)}
      wide
      onClose={onClose}
      onSubmit={() => void save(Boolean(instance.error))}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn" type="button" disabled={busy || !changed} onClick={() => void save(false)}>
            {t.save}
          </button>
          {instance.error && (
            <button class="btn is-primary" type="submit" disabled={busy || !changed}>
              <Icon name="retrying" />
              {t.save_retry}
            </button>
          )}
        </>
      }
    >
      <CodeField id="state" label={t.state} text={text} tall error={typeof after === 'string' ? after : undefined} onText={set_text} />
      <div>
        <h3 class="h3">{t.changes}</h3>
        {lines.length === 0 ? (
          <p class="muted t12">{t.no_changes}</p>
        ) : (
          <ul class="tree is-framed" tabIndex={0} aria-label={t.changes}>
            {lines.map((line) => (
              <li key={line.path + line.mark} class={line.mark}>
                <span class="k">{line.path}:</span> <span class="v">{line.text}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      <div class="f">
        <label for="edit-reason">{words.value.actions.reason}</label>
        <input class="input" id="edit-reason" value={reason} autocomplete="off" onInput={(event) => set_reason(event.currentTarget.value)} />
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
