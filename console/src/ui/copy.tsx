import { useState } from 'preact/hooks';
import { words } from '../words';
import { Icon } from './icon';
import { toast } from './toast';

export async function copy_text(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(words.value.common.copied);
  } catch {
    toast(words.value.common.copy_failed);
  }
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [done, set_done] = useState(false);
  const copy = (event: Event) => {
    event.stopPropagation();
    event.preventDefault();
    void copy_text(text);
    set_done(true);
    setTimeout(() => set_done(false), 1500);
  };
  return (
    <button class="copy" type="button" aria-label={label} title={text} onClick={copy}>
      <Icon name={done ? 'check' : 'copy'} />
    </button>
  );
}

// A command line that does the same as the screen.
export function Command({ text }: { text: string }) {
  return (
    <span class="cmd">
      <Icon name="terminal" />
      <span class="cut">{text}</span>
      <CopyButton text={text} label={words.value.common.copy_command} />
    </span>
  );
}

export function Id({ value, short }: { value: string; short?: boolean }) {
  return (
    <span class="id muted">
      <span title={value}>{short ? short_id(value) : value}</span>
      <CopyButton text={value} label={words.value.common.copy_id} />
    </span>
  );
}

// The end of an ordered id differs between neighbours; its beginning does not.
export const short_id = (id: string): string => (id.length > 14 && /^[0-9a-f-]{36}$/.test(id) ? id.slice(-6) : id.length > 22 ? `${id.slice(0, 10)}…${id.slice(-8)}` : id);
