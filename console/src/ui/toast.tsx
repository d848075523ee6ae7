import { signal } from '@preact/signals';
import { Icon } from './icon';

interface Message {
  text: string;
  link?: { text: string; href: string };
  bad?: boolean;
}
const current = signal<Message | null>(null);
let timer: ReturnType<typeof setTimeout>;

export function toast(text: string, link?: Message['link'], bad = false): void {
  current.value = { text, link, bad };
  clearTimeout(timer);
  timer = setTimeout(() => (current.value = null), bad ? 9000 : 4500);
}

export function Toasts() {
  const message = current.value;
  return (
    <div role="status" aria-live="polite" class="toasts">
      {message && (
        <div class="toast">
          <Icon name={message.bad ? 'suspended' : 'check'} />
          <span>{message.text}</span>
          {message.link && (
            <a class="btn is-s" href={message.link.href}>
              {message.link.text}
            </a>
          )}
        </div>
      )}
    </div>
  );
}
