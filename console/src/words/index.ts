// The words of the console in the chosen language. English comes with the page, German when it is chosen.
import { effect, signal } from '@preact/signals';
import { now, tick } from '../clock';
import { language, zone } from '../settings';
import * as times from '../time_words';
import { en, type Words } from './en';

export const words = signal<Words>(en);

export async function load_words(): Promise<void> {
  words.value = language.value === 'de' ? (await import('./de')).de : en;
}

effect(() => {
  void language.value;
  if (typeof document !== 'undefined') void load_words();
});

export const count = (value: number): string => new Intl.NumberFormat(language.value === 'de' ? 'de-DE' : 'en-GB').format(value);
export const lasting = (milliseconds: number, parts: 1 | 2 = 2): string => times.duration(milliseconds, language.value, parts);
export const exact = (iso: string): string => times.exact(Date.parse(iso), language.value, zone.value);
export const moment = (iso: string): string => times.moment(Date.parse(iso), now(), language.value, zone.value);
export const clock_time = (iso: string, seconds = false): string => times.clock_time(Date.parse(iso), language.value, zone.value, seconds);

// How long ago, or how long until; reads the ticking clock, so that components follow it.
export function since(iso: string, parts: 1 | 2 = 1): string {
  void tick.value;
  return lasting(now() - Date.parse(iso), parts);
}
export function until(iso: string, parts: 1 | 2 = 2): string {
  void tick.value;
  return lasting(Date.parse(iso) - now(), parts);
}
export const is_past = (iso: string): boolean => Date.parse(iso) <= now();
