// The events of an instance, oldest first. Idle time between two events is a row that says how long it was.
import { useMemo } from 'preact/hooks';
import type { HistoryEntry } from '../api_types';
import type { Layout } from '../diagram/layout';
import { stringify } from '../json/lossless';
import { Icon } from '../ui/icon';
import { VirtualList } from '../ui/virtual_list';
import { clock_time, exact, lasting, moment, words } from '../words';
import { look_of } from './events';

type Line = { entry: HistoryEntry; index: number } | { gap: number };

export function history_lines(history: HistoryEntry[]): Line[] {
  const lines: Line[] = [];
  history.forEach((entry, index) => {
    const before = history[index - 1];
    if (before) {
      const gap = Date.parse(entry.at) - Date.parse(before.at);
      if (gap > 3_600_000) lines.push({ gap });
    }
    lines.push({ entry, index });
  });
  return lines;
}

export function HistoryList({ history, layout, cursor, onCursor, full }: { history: HistoryEntry[]; layout: Layout | null; cursor: number; onCursor: (index: number) => void; full: boolean }) {
  const t = words.value.history;
  const lines = useMemo(() => history_lines(history), [history]);
  const at = useMemo(() => lines.findIndex((line) => 'entry' in line && line.index === cursor), [lines, cursor]);
  const row = (line: Line, place: number) => {
    if ('gap' in line) {
      return (
        <li class="gap" key={`g${place}`}>
          <span>{t.idle(lasting(line.gap))}</span>
        </li>
      );
    }
    const { entry, index } = line;
    const look = look_of(entry, layout);
    const before = lines[place - 1];
    const new_day = index === 0 || (before && 'gap' in before && before.gap > 43_200_000);
    return (
      <li key={entry.sequence} class={`${index === cursor ? 'is-cursor' : ''}${index > cursor ? ' is-after' : ''}`} data-st={look.tone}>
        <button type="button" onClick={() => onCursor(index)} aria-current={index === cursor ? 'true' : undefined}>
          <span class="n">{index + 1}</span>
          <Icon name={look.icon} />
          <span class="cut">
            {look.text}
            {full && entry.details !== null && <span class="mono muted"> {stringify(entry.details).slice(0, 300)}</span>}
          </span>
          <time dateTime={entry.at} title={exact(entry.at)}>
            {new_day ? moment(entry.at) : clock_time(entry.at, true)}
          </time>
        </button>
      </li>
    );
  };
  return <VirtualList class="hist" label={t.label} count={lines.length} row={24} cursor={at} render={(place) => row(lines[place]!, place)} />;
}
