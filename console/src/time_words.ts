// Times and durations in words.
import type { Language, Zone } from './settings';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const units = {
  en: { d: 'd', h: 'h', min: 'min', s: 's', ms: 'ms' },
  de: { d: 'T', h: 'Std.', min: 'Min.', s: 's', ms: 'ms' },
};

// One unit in lists ("29 h"), two in sentences ("29 h 44 min").
export function duration(milliseconds: number, language: Language, parts: 1 | 2 = 2): string {
  const u = units[language];
  const total = Math.max(0, milliseconds);
  if (total < second) return `${Math.round(total)} ${u.ms}`;
  const two = (big: number, big_unit: string, small: number, small_unit: string) => (parts === 1 || small === 0 ? `${big} ${big_unit}` : `${big} ${big_unit} ${small} ${small_unit}`);
  if (total < minute) return `${Math.floor(total / second)} ${u.s}`;
  if (total < hour) return two(Math.floor(total / minute), u.min, Math.floor((total % minute) / second), u.s);
  if (total < 2 * day) return two(Math.floor(total / hour), u.h, Math.floor((total % hour) / minute), u.min);
  return two(Math.floor(total / day), u.d, Math.floor((total % day) / hour), u.h);
}

const formats = new Map<string, Intl.DateTimeFormat>();
function format(language: Language, zone: Zone, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${language}${zone}${JSON.stringify(options)}`;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(language === 'de' ? 'de-DE' : 'en-GB', { ...options, ...(zone === 'utc' ? { timeZone: 'UTC' } : {}) });
    formats.set(key, found);
  }
  return found;
}

export function clock_time(at: number, language: Language, zone: Zone, seconds = false): string {
  return format(language, zone, { hour: '2-digit', minute: '2-digit', ...(seconds ? { second: '2-digit' } : {}) }).format(at);
}

export function exact(at: number, language: Language, zone: Zone): string {
  const text = format(language, zone, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at);
  return zone === 'utc' ? `${text} UTC` : text;
}

const day_number = (at: number, language: Language, zone: Zone): string => format(language, zone, { year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

// "today 09:14", "tomorrow 09:14", "Mon 09:14", "16 Nov 09:14", "16 Nov 2027".
export function moment(at: number, now: number, language: Language, zone: Zone): string {
  const time = clock_time(at, language, zone);
  const on = day_number(at, language, zone);
  const names = language === 'de' ? ['heute', 'morgen', 'gestern'] : ['today', 'tomorrow', 'yesterday'];
  if (on === day_number(now, language, zone)) return `${names[0]} ${time}`;
  if (on === day_number(now + day, language, zone)) return `${names[1]} ${time}`;
  if (on === day_number(now - day, language, zone)) return `${names[2]} ${time}`;
  if (Math.abs(at - now) < 6 * day) return `${format(language, zone, { weekday: 'short' }).format(at)} ${time}`;
  const same_year = format(language, zone, { year: 'numeric' }).format(at) === format(language, zone, { year: 'numeric' }).format(now);
  return same_year ? `${format(language, zone, { day: 'numeric', month: 'short' }).format(at)} ${time}` : format(language, zone, { day: 'numeric', month: 'short', year: 'numeric' }).format(at);
}

// PT1H30M to milliseconds; null if it is none.
export function iso_duration(text: string): number | null {
  const match = /^P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (!match || text === 'P') return null;
  const [d, h, m, s] = match.slice(1).map((one) => Number(one ?? 0)) as [number, number, number, number];
  return d * day + h * hour + m * minute + s * second;
}
