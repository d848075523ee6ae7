// Keyboard. Pages add their keys while they are shown; single letters are off inside fields and can be switched off.
import { useEffect, useRef } from 'preact/hooks';
import { letter_keys } from './settings';

export type KeyMap = Record<string, (event: KeyboardEvent) => void>;
const maps: KeyMap[] = [];
let prefix = '';
let prefix_at = 0;

export function useKeys(map: KeyMap): void {
  const latest = useRef(map);
  latest.current = map;
  useEffect(() => {
    const live: KeyMap = new Proxy({}, { get: (_, name) => latest.current[name as string] });
    maps.unshift(live);
    return () => {
      maps.splice(maps.indexOf(live), 1);
    };
  }, []);
}

const in_field = (target: EventTarget | null): boolean => {
  const element = (target as Element | null)?.shadowRoot?.activeElement ?? (target as Element | null);
  return element instanceof HTMLElement && (element.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(element.tagName)) && !(element instanceof HTMLInputElement && ['checkbox', 'radio', 'button'].includes(element.type));
};

export function name_of(event: KeyboardEvent): string {
  const control = event.ctrlKey || event.metaKey ? 'Ctrl+' : '';
  return control + event.key;
}

function on_key(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  let name = name_of(event);
  const letter = !event.ctrlKey && !event.metaKey && !event.altKey && (event.key.length === 1 || event.key.startsWith('Arrow') || event.key === 'Enter');
  const typing = in_field(event.composedPath()[0] ?? event.target);
  if (letter && (typing || (event.key.length === 1 && !letter_keys.value))) return;
  if (typing && event.key === 'Escape') {
    (document.activeElement as HTMLElement | null)?.blur();
    return;
  }
  if (document.querySelector('dialog[open]') && !name.startsWith('Ctrl+')) return;
  if (prefix && Date.now() - prefix_at < 1500) name = `${prefix} ${event.key}`;
  prefix = '';
  if (name === 'g') {
    prefix = 'g';
    prefix_at = Date.now();
    return;
  }
  const focus = document.activeElement;
  if (name === 'Enter' && focus && focus !== document.body && (focus.matches('a, button, summary, [role=button], [role=menuitem], input') || focus.closest('.tree'))) return;
  if (event.key.startsWith('Arrow') && focus?.matches('input[type=radio], [role=tab], [role=menuitem]')) return;
  for (const map of maps) {
    const action = map[name];
    if (action) {
      event.preventDefault();
      action(event);
      return;
    }
  }
}

export function start_keys(): void {
  addEventListener('keydown', on_key);
}
