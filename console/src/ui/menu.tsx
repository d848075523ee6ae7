// A button with a list of actions below it.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon';

export interface MenuItem {
  text: string;
  icon?: string;
  danger?: boolean;
  run: () => void;
}

export function Menu({ label, icon, items, children, small, quiet, up, keep }: { label: string; icon?: string; items: MenuItem[]; children?: ComponentChildren; small?: boolean; quiet?: boolean; up?: boolean; keep?: boolean }) {
  const [open, set_open] = useState(false);
  const ref = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event) => {
      if (!ref.current?.contains(event.target as Node)) set_open(false);
    };
    document.addEventListener('pointerdown', away);
    ref.current?.querySelector<HTMLElement>('[role=menuitem]')?.focus();
    return () => document.removeEventListener('pointerdown', away);
  }, [open]);
  const keys = (event: KeyboardEvent) => {
    const list = [...(ref.current?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? [])];
    const at = list.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      list[(at + (event.key === 'ArrowDown' ? 1 : list.length - 1)) % list.length]?.focus();
    } else if (event.key === 'Escape' && open) {
      event.preventDefault();
      event.stopPropagation();
      set_open(false);
      ref.current?.querySelector('button')?.focus();
    }
  };
  if (items.length === 0) return null;
  return (
    <span class={keep ? 'menuwrap is-keep' : 'menuwrap'} ref={ref} onKeyDown={keys}>
      <button class={`btn${children ? '' : ' is-icon'}${small ? ' is-s' : ''}${quiet ? ' is-quiet' : ''}`} type="button" aria-haspopup="menu" aria-expanded={open} aria-label={children ? undefined : label} onClick={() => set_open(!open)}>
        {icon && <Icon name={icon} />}
        {children}
      </button>
      {open && (
        <span class={up ? 'menu is-up' : 'menu'} role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              key={item.text}
              class={item.danger ? 'is-danger' : ''}
              type="button"
              role="menuitem"
              onClick={() => {
                set_open(false);
                item.run();
              }}
            >
              {item.icon && <Icon name={item.icon} />}
              {item.text}
            </button>
          ))}
        </span>
      )}
    </span>
  );
}
