// Saved views: a name for a filter. Kept in this browser until the server keeps them.
import { useState } from 'preact/hooks';
import { query } from '../api';
import { link } from '../base_path';
import { setting } from '../settings';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { words } from '../words';

interface View {
  [name: string]: string;
  name: string;
  filter: string;
}
const saved = setting<View[]>('views', []);

export function Views({ text }: { text: string; onChoose: (text: string) => void }) {
  const t = words.value.views;
  const [asking, set_asking] = useState(false);
  const [name, set_name] = useState('');
  const fixed: View[] = [
    { name: t.all, filter: '' },
    { name: t.attention, filter: 'status:suspended' },
    { name: t.retrying, filter: 'status:retrying' },
    { name: t.waiting, filter: 'status:waiting' },
    { name: t.failed, filter: 'status:failed' },
  ];
  const own = saved.value.find((one) => one.filter === text);
  const known = [...fixed, ...saved.value].some((one) => one.filter === text);
  const save = () => {
    const title = name.trim();
    if (!title) return;
    saved.value = [...saved.value.filter((one) => one.name !== title), { name: title, filter: text }].slice(-20);
    set_asking(false);
    set_name('');
  };
  return (
    <nav class="tabs" aria-label={t.label}>
      {[...fixed, ...saved.value].map((one) => (
        <a key={one.name} href={link(query('/instances', { q: one.filter }))} aria-current={one.filter === text ? 'page' : undefined}>
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
        {own && (
          <button class="btn is-quiet is-s" type="button" onClick={() => (saved.value = saved.value.filter((one) => one !== own))}>
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
        </Dialog>
      )}
    </nav>
  );
}
