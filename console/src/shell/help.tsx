import { link } from '../base_path';
import { letter_keys } from '../settings';
import { Dialog } from '../ui/dialog';
import { words } from '../words';

export function Help({ onClose }: { onClose: () => void }) {
  const t = words.value.help;
  return (
    <Dialog
      title={t.title}
      wide
      onClose={onClose}
      actions={
        <button class="btn is-primary" type="button" autofocus onClick={onClose}>
          {t.close}
        </button>
      }
    >
      <p>
        <a href={link('/help/index.html')} target="_blank" rel="noopener">
          {t.documentation}
        </a>
      </p>
      <div class="keymap">
        {t.keys.map(([keys, text]) => (
          <div class="row" key={text}>
            <span class="keyset">
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </span>
            <span>{text}</span>
          </div>
        ))}
      </div>
      <label class="row">
        <input class="check" type="checkbox" checked={letter_keys.value} onChange={(event) => (letter_keys.value = event.currentTarget.checked)} />
        {t.letters}
      </label>
    </Dialog>
  );
}
