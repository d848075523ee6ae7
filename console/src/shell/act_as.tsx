// On a server without authentication: who one pretends to be, for tasks that ask for a certain person.
import { useState } from 'preact/hooks';
import { act_as } from '../settings';
import { Dialog } from '../ui/dialog';
import { words } from '../words';

export function ActAs({ onClose }: { onClose: () => void }) {
  const t = words.value.shell;
  const [name, set_name] = useState(act_as.value);
  const save = () => {
    act_as.value = name.trim();
    onClose();
    location.reload();
  };
  return (
    <Dialog
      title={t.act_as_title}
      onClose={onClose}
      onSubmit={save}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn is-primary" type="submit">
            {t.act_as_save}
          </button>
        </>
      }
    >
      <p class="soft">{t.act_as_text}</p>
      <div class="f">
        <label for="act-as">{t.act_as_name}</label>
        <input class="input" id="act-as" value={name} autocomplete="off" onInput={(event) => set_name(event.currentTarget.value)} />
      </div>
    </Dialog>
  );
}
