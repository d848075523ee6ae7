import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { cron_words, every_words } from '../src/schedule_words';
import { compare } from '../src/definition/compare';
import { drawing_of, read_svg, step_looks } from '../src/diagram/svg_reader';
import { make_scale } from '../src/instance/scale';
import { duration, exact, iso_duration, moment } from '../src/time_words';
import { scroll_to, window_of } from '../src/ui/window_of';
import { read_figures } from '../src/figures';
import { de } from '../src/words/de';
import { en } from '../src/words/en';

describe('time words', () => {
  it('says durations', () => {
    expect(duration(320, 'en')).toBe('320 ms');
    expect(duration(80_000, 'en')).toBe('1 min 20 s');
    expect(duration(29 * 3_600_000 + 44 * 60_000, 'en')).toBe('29 h 44 min');
    expect(duration(29 * 3_600_000 + 44 * 60_000, 'en', 1)).toBe('29 h');
    expect(duration(3 * 86_400_000, 'de')).toBe('3 T');
    expect(duration(-5, 'en')).toBe('0 ms');
  });
  it('says moments relative to a day', () => {
    const now = Date.parse('2026-11-18T10:00:00Z');
    expect(moment(Date.parse('2026-11-18T09:14:00Z'), now, 'en', 'utc')).toBe('today 09:14');
    expect(moment(Date.parse('2026-11-19T09:14:00Z'), now, 'en', 'utc')).toBe('tomorrow 09:14');
    expect(moment(Date.parse('2026-11-17T09:14:00Z'), now, 'de', 'utc')).toBe('gestern 09:14');
    expect(moment(Date.parse('2026-11-21T09:14:00Z'), now, 'en', 'utc')).toBe('Sat 09:14');
    expect(moment(Date.parse('2027-02-01T09:14:00Z'), now, 'en', 'utc')).toBe('1 Feb 2027');
    expect(exact(now, 'en', 'utc')).toContain('UTC');
  });
  it('reads ISO durations', () => {
    expect(iso_duration('PT1H30M')).toBe(5_400_000);
    expect(iso_duration('P2D')).toBe(172_800_000);
    expect(iso_duration('tomorrow')).toBe(null);
  });
  it('says schedules', () => {
    expect(cron_words('0 6 1 * *', 'en')).toBe('on day 1 of each month at 06:00');
    expect(cron_words('30 2 * * MON', 'de')).toBe('jeden Montag um 02:30');
    expect(cron_words('*/10 * * * *', 'en')).toBe('every 10 minutes');
    expect(cron_words('0 6 L-3 * *', 'en')).toBe('0 6 L-3 * *');
    expect(every_words('PT12H', 'en')).toBe('every 12 h');
  });
});

describe('virtual list', () => {
  it('has only the rows on screen', () => {
    const view = window_of(50_000, 24, 600_000, 480, 8);
    expect(view.last - view.first).toBeLessThan(40);
    expect(view.above + (view.last - view.first) * 24 + view.below).toBe(50_000 * 24);
    expect(view.first * 24).toBeLessThanOrEqual(600_000);
  });
  it('stays inside the list', () => {
    expect(window_of(3, 24, 9999, 480)).toEqual({ first: 0, last: 3, above: 0, below: 0 });
    expect(window_of(0, 24, 0, 480)).toEqual({ first: 0, last: 0, above: 0, below: 0 });
    expect(window_of(100, 24, -50, 240).first).toBe(0);
  });
  it('scrolls only when a row is not visible', () => {
    expect(scroll_to(5, 24, 0, 480)).toBe(0);
    expect(scroll_to(100, 24, 0, 480)).toBe(100 * 24 + 24 - 480);
    expect(scroll_to(2, 24, 480, 480)).toBe(48);
  });
});

describe('time axis', () => {
  it('folds idle time and stays in order', () => {
    const start = Date.parse('2026-11-16T09:14:02Z');
    const times = [start, start + 1000, start + 3000, start + 86_400_000, start + 2 * 86_400_000];
    const scale = make_scale(times);
    expect(scale.folds.length).toBe(2);
    const places = times.map(scale.at);
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places[2]! - places[0]!).toBeGreaterThan(30);
    expect(Math.max(...places)).toBeLessThanOrEqual(100);
  });
  it('takes one event', () => expect(make_scale([5]).at(5)).toBe(2));
});

describe('diagram', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10" onload="x()"><title>T</title><desc>d</desc><rect x="0" y="0" width="10" height="10" fill="#ffffff"/><text x="24" y="32">T</text><g data-step="a&amp;b" data-shape="task" data-state="waiting"><title>A &lt;b&gt;: waits</title><rect x="1" y="2" fill="var(--d-action, #e9f0fe)" stroke="url(https://x)" style="x" onclick="y()"/><script>bad()</script><foreignObject><b>no</b></foreignObject></g></svg>';
  it('reads only what the renderer draws', () => {
    const marks = drawing_of(read_svg(svg)!);
    expect(marks.length).toBe(1);
    expect(JSON.stringify(marks)).not.toMatch(/script|onclick|url|style|foreignObject|bad/);
    expect(marks[0]!.children.find((one) => typeof one !== 'string' && one.tag === 'rect')).toMatchObject({ attributes: { fill: 'var(--d-action, #e9f0fe)' } });
  });
  it('knows every colour of the renderer', () => {
    const theme = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../../src/render/theme.cc'), 'utf8');
    const tokens = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '../src/styles/tokens.css'), 'utf8');
    const used = [...theme.matchAll(/var\((--d-[a-z-]+), (#[0-9a-f]{6})\)/g)];
    expect(used.length).toBeGreaterThan(40);
    for (const [, name, light] of used) expect(tokens).toContain(`${name}: light-dark(${light}, #`);
  });
  it('finds the state of steps', () => expect(step_looks(read_svg(svg)!).get('a&b')).toEqual({ state: 'waiting', note: 'A <b>: waits' }));
});

describe('versions', () => {
  it('compares steps', () => {
    const before = { steps: [{ id: 'a', type: 'call', call: { retry: { attempts: 3 } } }, { id: 'c', type: 'set' }, { id: 'd', type: 'emit' }] };
    const after = { steps: [{ id: 'a', type: 'call', call: { retry: { attempts: 5 } } }, { id: 'b', type: 'set' }, { id: 'd', type: 'emit' }] };
    expect(compare(before, after).map((one) => `${one.kind} ${one.id}`)).toEqual(['changed a', 'gone c', 'new b', 'same d']);
    expect(compare(before, after)[0]!.details).toEqual([{ path: 'call.retry.attempts', before: '3', after: '5' }]);
  });
});

describe('words', () => {
  const paths = (value: unknown, at = ''): string[] => (typeof value === 'object' && value !== null ? Object.entries(value).flatMap(([key, one]) => paths(one, `${at}.${key}`)) : [`${at} ${typeof value}`]);
  it('has every word in German', () => expect(paths(de)).toEqual(paths(en)));
  it('reads figures', () => expect(read_figures('# x\ncairn_tasks_open 7\ncairn_x{a="b"} 1\n').get('cairn_tasks_open')).toBe(7));
});
