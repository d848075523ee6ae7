// What the person chose on this machine: theme, language, zone, columns, views. Kept in localStorage; works without it.
import { effect, signal, type Signal } from '@preact/signals';
import { parse, stringify, type Json } from './json/lossless';

function read(name: string): Json | undefined {
  try {
    const text = localStorage.getItem(`cairn.${name}`);
    return text === null ? undefined : parse(text);
  } catch {
    return undefined;
  }
}

export function store(name: string, value: Json | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`cairn.${name}`);
    else localStorage.setItem(`cairn.${name}`, stringify(value));
  } catch {
    // Private windows may refuse; the setting then lasts for this page.
  }
}

export const stored = <T extends Json>(name: string, fallback: T): T => (read(name) as T | undefined) ?? fallback;

export function setting<T extends Json>(name: string, fallback: T): Signal<T> {
  const value = signal<T>(stored(name, fallback));
  let first = true;
  effect(() => {
    const now = value.value;
    if (first) first = false;
    else store(name, now);
  });
  return value;
}

export type Theme = 'system' | 'light' | 'dark';
export type Language = 'en' | 'de';
export type Zone = 'local' | 'utc';

export const theme = setting<Theme>('theme', 'system');
export const language = setting<Language>('language', typeof navigator !== 'undefined' && navigator.language.startsWith('de') ? 'de' : 'en');
export const zone = setting<Zone>('zone', 'local');
export const letter_keys = setting<boolean>('keys', true);
export const act_as = setting<string>('act_as', '');
export const live_on = signal(true);

export const is_dark = (): boolean => theme.value === 'dark' || (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);

export function apply_theme(): void {
  effect(() => {
    const root = document.documentElement;
    if (theme.value === 'system') root.removeAttribute('data-theme');
    else root.setAttribute('data-theme', theme.value);
  });
}

export const apply_language = (): void => void effect(() => (document.documentElement.lang = language.value, undefined));

export function other_theme(): void {
  theme.value = is_dark() ? 'light' : 'dark';
}
