// A schedule in words: the common forms of cron, else the expression itself.
import type { Language } from './settings';
import { iso_duration, duration } from './time_words';

const days = { en: ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'], de: ['Sonntag', 'Montag', 'Dienstag', 'Mittwoch', 'Donnerstag', 'Freitag', 'Samstag'] };
const names = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

export function every_words(text: string, language: Language): string {
  const milliseconds = iso_duration(text);
  const word = language === 'de' ? 'alle' : 'every';
  return milliseconds === null ? `${word} ${text}` : `${word} ${duration(milliseconds, language)}`;
}

export function cron_words(cron: string, language: Language): string {
  const de = language === 'de';
  const fixed: Record<string, string> = { '@hourly': de ? 'jede Stunde' : 'every hour', '@daily': de ? 'jeden Tag um 00:00' : 'every day at 00:00', '@weekly': de ? 'jeden Sonntag um 00:00' : 'every Sunday at 00:00', '@monthly': de ? 'am 1. jedes Monats um 00:00' : 'on day 1 of each month at 00:00' };
  if (fixed[cron]) return fixed[cron];
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) return cron;
  const [minute, hour, date, month, week] = fields as [string, string, string, string, string];
  const step = /^\*\/(\d+)$/.exec(minute);
  if (step && hour === '*' && date === '*' && month === '*' && week === '*') return de ? `alle ${step[1]} Minuten` : `every ${step[1]} minutes`;
  if (/^\d+$/.test(minute) && hour === '*' && date === '*' && month === '*' && week === '*') return de ? `jede Stunde um Minute ${minute}` : `every hour at minute ${minute}`;
  if (!/^\d+$/.test(minute) || !/^\d+$/.test(hour) || month !== '*') return cron;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  const at = de ? `um ${time}` : `at ${time}`;
  if (date === '*' && week === '*') return de ? `jeden Tag ${at}` : `every day ${at}`;
  if (date === '*' && /^(1-5|MON-FRI)$/i.test(week)) return de ? `Montag bis Freitag ${at}` : `Monday to Friday ${at}`;
  const index = /^[0-7]$/.test(week) ? Number(week) % 7 : names.indexOf(week.toUpperCase());
  if (date === '*' && index >= 0) return de ? `jeden ${days.de[index]} ${at}` : `every ${days.en[index]} ${at}`;
  if (week === '*' && date === 'L') return de ? `am letzten Tag des Monats ${at}` : `on the last day of the month ${at}`;
  if (week === '*' && /^\d+$/.test(date)) return de ? `am ${date}. jedes Monats ${at}` : `on day ${date} of each month ${at}`;
  return cron;
}
