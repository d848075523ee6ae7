// Time runs right; idle time is folded and says so.
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { HistoryEntry, Run } from '../api_types';
import { now, tick } from '../clock';
import { title_of } from '../diagram/layout';
import { Icon } from '../ui/icon';
import type { Tone } from '../ui/status';
import { clock_time, lasting, moment, words } from '../words';
import { shape_icon, shape_tone } from './events';
import type { InstanceView } from './load';
import { make_scale, type Scale } from './scale';

interface Bar {
  from: number;
  to: number | null; // null: it continues
  tone: Tone;
  first: number; // index of its first event
}

interface Row {
  step: string;
  bars: Bar[];
  faults: { at: number; code: string; index: number }[];
}

export function rows_of(history: HistoryEntry[]): Row[] {
  const rows = new Map<string, Row>();
  history.forEach((entry, index) => {
    if (!entry.step) return;
    let row = rows.get(entry.step);
    if (!row) rows.set(entry.step, (row = { step: entry.step, bars: [], faults: [] }));
    const at = Date.parse(entry.at);
    const last = row.bars[row.bars.length - 1];
    if (entry.event === 'started') row.bars.push({ from: at, to: null, tone: 'running', first: index });
    else if (entry.event === 'faulted') row.faults.push({ at, code: String((entry.details as { code?: string } | null)?.code ?? ''), index });
    else if (last && last.to === null) Object.assign(last, { to: at, tone: entry.event === 'completed' ? 'completed' : entry.event === 'skipped' ? 'cancelled' : 'suspended' });
    else row.bars.push({ from: at - (Number((entry.details as { duration_ms?: number } | null)?.duration_ms) || 0), to: at, tone: entry.event === 'completed' ? 'completed' : entry.event === 'skipped' ? 'cancelled' : 'suspended', first: index });
  });
  return [...rows.values()];
}

// What is closer than a pixel is one bar.
function visible_bars(bars: Bar[], scale: Scale): Bar[] {
  if (bars.length < 80) return bars;
  const kept: Bar[] = [];
  for (const bar of bars) {
    const last = kept[kept.length - 1];
    if (last && last.to !== null && bar.to !== null && last.tone === bar.tone && scale.at(bar.from) - scale.at(last.to) < 0.4) kept[kept.length - 1] = { ...last, to: bar.to };
    else kept.push(bar);
  }
  return kept.slice(-400);
}

function visible_faults(faults: Row['faults'], scale: Scale): Row['faults'] {
  if (faults.length < 80) return faults;
  let last = -1;
  return faults.filter((fault) => {
    const at = scale.at(fault.at);
    if (at - last < 0.4) return false;
    last = at;
    return true;
  });
}

function Grid({ scale, present, children }: { scale: Scale; present: number | null; children?: ComponentChildren }) {
  return (
    <svg aria-hidden="true">
      {scale.folds.map((fold) => (
        <rect key={fold.from} class="fold" x={`${fold.from}%`} y="0" width={`${fold.to - fold.from}%`} height="24" />
      ))}
      {present !== null && <line class="now" x1={`${present}%`} x2={`${present}%`} y1="0" y2="24" />}
      {children}
    </svg>
  );
}

export function Timeline({ view, cursor, onCursor }: { view: InstanceView; cursor: number; onCursor: (index: number) => void }) {
  const t = words.value.timeline;
  const { history, instance, layout } = view;
  const open = !instance.ended_at;
  void (open && tick.value);
  const rows = useMemo(() => rows_of(history), [history]);
  const present = now();
  const until = (instance.waits ?? []).flatMap((wait) => (wait.until ? [Date.parse(wait.until)] : []));
  const next = until.length ? Math.min(...until.filter((one) => one > present)) : Infinity;
  const past = useMemo(() => [...new Set(history.map((entry) => Date.parse(entry.at)))].sort((a, b) => a - b), [history]);
  // A long history moves the axis by less than a pixel a second, so it is measured again only now and then.
  const grain = past.length > 500 ? 15_000 : 1000;
  const rounded = open ? Math.ceil(present / grain) * grain : 0;
  const scale = useMemo(() => {
    const times = [...past, ...(open ? [rounded] : []), ...(Number.isFinite(next) ? [next] : [])];
    return make_scale(times.length ? times : [Date.parse(instance.started_at)]);
  }, [past, rounded, next]);
  const drawn = useMemo(() => rows.map((row) => ({ ...row, shown: visible_bars(row.bars, scale), marks: visible_faults(row.faults, scale), done: row.bars.some((bar) => bar.to !== null && bar.tone === 'completed') })), [rows, scale]);
  const now_at = open ? scale.at(present) : null;
  const labels: { x: number; text: string; anchor?: 'middle' | 'end' }[] = [];
  const put = (x: number, text: string, anchor?: 'middle' | 'end') => {
    const room = anchor === 'middle' ? 4 : anchor === 'end' ? 6 : 10;
    if (labels.every((one) => Math.abs(one.x - x) > room)) labels.push({ x, text, anchor });
  };
  for (const fold of scale.folds) put((fold.from + fold.to) / 2, lasting(fold.milliseconds, 1), 'middle');
  if (now_at !== null) put(now_at - 0.8, t.now, 'end');
  for (let at = 0; at < history.length; at += Math.max(1, Math.floor(history.length / 60))) put(scale.at(Date.parse(history[at]!.at)), clock_time(history[at]!.at, true));
  const here = history[cursor];
  return (
    <div class="gantt" {...(rows.length ? { role: 'list', 'aria-label': t.label } : {})}>
      <div class="g axis" aria-hidden="true">
        <span>{moment(instance.started_at).replace(/ \d\d:\d\d$/, '')}</span>
        <Grid scale={scale} present={now_at}>
          {labels.map((one) => (
            <text key={one.x} x={`${one.x}%`} y="16" text-anchor={one.anchor}>
              {one.text}
            </text>
          ))}
        </Grid>
      </div>
      {drawn.map((row) => {
        const last = row.bars[row.bars.length - 1];
        const waiting_tone = shape_tone(row.step, layout) ?? 'running';
        const failed = view.looks.get(row.step)?.state === 'failed';
        const retrying = open && view.runs.some((run) => run.step === row.step && run.status === 'pending' && run.attempt > 0);
        const tone: Tone = retrying ? 'retrying' : failed ? 'suspended' : last && last.to === null && open ? waiting_tone : (last?.tone ?? (row.faults.length ? 'suspended' : 'completed'));
        const title = title_of(layout ?? undefined, row.step);
        const to_row = () => onCursor(Math.max(last?.first ?? -1, row.faults[row.faults.length - 1]?.index ?? -1));
        const current_run: Run | undefined = view.runs.find((run) => run.step === row.step && run.status === 'pending' && run.attempt > 0);
        return (
          <div class={here?.step === row.step ? 'g is-cursor' : 'g'} data-st={tone} key={row.step} role="listitem">
            <button type="button" class="rowname" onClick={to_row} aria-pressed={here?.step === row.step}>
              <Icon name={shape_icon(row.step, layout)} />
              <span class="cut">{title}</span>
            </button>
            <Grid scale={scale} present={now_at}>
              {row.shown.map((bar) => {
                const from = scale.at(bar.from);
                const to = bar.to === null ? (open ? scale.at(present) : 98) : scale.at(bar.to);
                const wide = Math.max(0.9, to - from);
                return bar.to === null ? (
                  <rect key={bar.first} class="barw" x={`${from}%`} y="6.5" width={`${wide}%`} height="11" rx="3" />
                ) : (
                  <rect key={bar.first} class="bar1" x={`${from}%`} y="7" width={`${wide}%`} height="10" rx="2" />
                );
              })}
              {row.marks.map((fault) => (
                <rect key={fault.index} class="err" x={`${scale.at(fault.at)}%`} y="7" width="1.6%" height="10" rx="2" />
              ))}
              {row.faults.length > 0 && !row.done && (
                <text x={`${Math.min(70, scale.at(row.faults[row.faults.length - 1]!.at) + 2.6)}%`} y="16">
                  {row.faults[row.faults.length - 1]!.code}
                </text>
              )}
              {current_run && now_at !== null && (
                <text x={`${Math.max(2, now_at - 1)}%`} y="16" text-anchor="end">
                  {t.tries(current_run.attempt, current_run.max_attempts)}
                </text>
              )}
              {last && last.to === null && (instance.waits ?? []).filter((wait) => wait.step === row.step && wait.until).map((wait) => <circle key={wait.token} class="dia" cx={`${Math.min(98, scale.at(Date.parse(wait.until!)))}%`} cy="12" r="3.5" />)}
              {here && here.step === row.step && <circle class="ring" cx={`${scale.at(Date.parse(here.at))}%`} cy="12" r="6.5" />}
            </Grid>
          </div>
        );
      })}
      {rows.length === 0 && <p class="muted t12 padded">{t.nothing}</p>}
    </div>
  );
}
