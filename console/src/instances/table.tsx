// The table of instances. Only the rows on screen are in the document.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Instance } from '../api_types';
import { title_of_definition } from '../definitions';
import { reference_of } from '../error_groups';
import { ended, main_wait, next_timer, tone_of } from '../instance_status';
import { may } from '../session';
import { step_title } from '../step_titles';
import { short_id } from '../ui/copy';
import { Status, Tries } from '../ui/status';
import { useWindow } from '../ui/virtual_list';
import { Ago, Since } from '../ui/when';
import { exact, is_past, moment, since, until, words } from '../words';

export type Column = 'workflow' | 'status' | 'where' | 'since' | 'next' | 'started' | 'id';
export const columns_all: Column[] = ['workflow', 'status', 'where', 'since', 'next', 'started', 'id'];

interface Props {
  rows: Instance[];
  columns: Column[];
  cursor: number;
  selected: ReadonlySet<string>;
  all: boolean;
  onOpen: (at: number) => void;
  onToggle: (id: string) => void;
  onToggleAll: () => void;
  near_end: () => void;
}

function useRowHeight(): number {
  const read = () => (matchMedia('(max-width: 720px)').matches ? 86 : matchMedia('(pointer: coarse)').matches ? 44 : 28);
  const [height, set_height] = useState(read);
  useEffect(() => {
    const on = () => set_height(read());
    addEventListener('resize', on);
    return () => removeEventListener('resize', on);
  }, []);
  return height;
}

function Gap({ height, span }: { height: number; span: number }) {
  const ref = useRef<HTMLTableCellElement>(null);
  useLayoutEffect(() => {
    ref.current!.style.height = `${height}px`;
  }, [height]);
  return (
    <tr class="gaprow" aria-hidden="true">
      <td ref={ref} colSpan={span} />
    </tr>
  );
}

export function InstanceTable({ rows, columns, cursor, selected, all, onOpen, onToggle, onToggleAll, near_end }: Props) {
  const t = words.value.instances;
  const height = useRowHeight();
  const view = useWindow(rows.length, height, cursor, 32);
  const operate = may('operate');
  const visible = rows.slice(view.first, view.last);
  useEffect(() => {
    if (view.last >= rows.length) near_end();
  }, [view.last, rows.length]);
  const span = columns.length + (operate ? 2 : 1);
  return (
    <div class="tablewrap grow" ref={view.ref} tabIndex={0} role="region" aria-label={words.value.nav.instances}>
      <table class="table cols-instances" aria-rowcount={rows.length}>
        <colgroup>
          {operate && <col class="c0" />}
          <col class="c1" />
          {columns.map((one) => (
            <col key={one} class={`c-${one}`} />
          ))}
        </colgroup>
        <thead>
          <tr>
            {operate && (
              <th>
                <input class="check" type="checkbox" aria-label={t.select_page} checked={all || (selected.size > 0 && selected.size === rows.length)} onChange={onToggleAll} />
              </th>
            )}
            <th>{t.reference}</th>
            {columns.map((one) => (
              <th key={one} class={one === 'id' ? 'is-num' : ''}>
                {t.columns[one]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {view.above > 0 && <Gap height={view.above} span={span} />}
          {visible.map((row, index) => {
            const at = view.first + index;
            const name = reference_of(row) || short_id(row.id);
            return (
              <tr key={row.id} class={`${at === cursor ? 'is-cursor' : ''}${ended(row) ? ' is-ended' : ''}`} aria-rowindex={at + 1} onClick={() => onOpen(at)}>
                {operate && (
                  <td onClick={(event) => event.stopPropagation()}>
                    <input class="check" type="checkbox" aria-label={t.select_one(name)} checked={all || selected.has(row.id)} onChange={() => onToggle(row.id)} />
                  </td>
                )}
                <td class="ref">{name}</td>
                {columns.map((one) => (
                  <Cell key={one} column={one} row={row} />
                ))}
              </tr>
            );
          })}
          {view.below > 0 && <Gap height={view.below} span={span} />}
        </tbody>
      </table>
    </div>
  );
}

function Cell({ column, row }: { column: Column; row: Instance }) {
  switch (column) {
    case 'workflow':
      return (
        <td class="c-workflow">
          {title_of_definition(row.definition)} <span class="muted">{row.version}</span>
        </td>
      );
    case 'status': {
      const tone = tone_of(row);
      return <td class="c-status">{tone === 'waiting' ? <Status tone="cancelled" icon="time" word={words.value.status.waiting} /> : <Status tone={tone} />}</td>;
    }
    case 'where': return <td class="c-where">{where(row)}</td>;
    case 'since': return <td class="muted c-since">{ended(row) ? <Ago at={row.ended_at ?? row.changed_at} /> : <Since at={row.changed_at} />}</td>;
    case 'next': return <Next row={row} />;
    case 'started': return <td class="muted c-started" title={exact(row.started_at)}>{moment(row.started_at)}</td>;
    case 'id': return <td class="mono muted is-num c-id" title={row.id}>{short_id(row.id)}</td>;
  }
}

function where(row: Instance) {
  const t = words.value.instances;
  const run = tone_of(row) === 'retrying' ? row.retrying : undefined;
  if (run) {
    return (
      <>
        {step_title(row.definition, row.version, run.step)} <span class="muted">·</span> <Tries attempt={run.attempt} of={run.max_attempts} />
        <span class="warn">{words.value.status.n_of(run.attempt, run.max_attempts)}</span> <span class="mono muted" title={run.last_error}>{run.code ?? run.last_error}</span>
      </>
    );
  }
  const title = (step: string) => step_title(row.definition, row.version, step);
  if (row.status === 'cancelled') return row.error?.message;
  if (row.error && row.status !== 'completed') return <span title={row.error.message}>{[row.error.step && title(row.error.step), row.error.code].filter(Boolean).join(': ')}</span>;
  if (row.status === 'suspended') return t.held;
  if (row.status !== 'waiting') return null;
  const wait = main_wait(row.waits);
  if (!wait) return null;
  switch (wait.kind) {
    case 'task': return t.where_task(title(wait.step));
    case 'signal': return t.where_signal(wait.name ?? wait.step);
    case 'timer': return t.where_time(title(wait.step));
    case 'subworkflow': return t.where_child(title(wait.step));
    default: return title(wait.step);
  }
}

function Next({ row }: { row: Instance }) {
  const t = words.value.instances;
  if (row.status === 'suspended') return <td class="late c-next">{t.until_you_act}</td>;
  const run = tone_of(row) === 'retrying' ? row.retrying : undefined;
  if (run) return <td class="c-next">{!run.next_at ? t.trying(run.attempt) : is_past(run.next_at) ? t.try_now(run.attempt + 1) : t.try_in(run.attempt + 1, until(run.next_at))}</td>;
  if (row.status !== 'waiting') return <td class="c-next" />;
  const timer = next_timer(row.waits);
  const main = main_wait(row.waits);
  if (!timer?.until) return <td class="c-next" />;
  if (is_past(timer.until)) return <td class="late c-next">{words.value.time.overdue(since(timer.until, 1))}</td>;
  return <td class="c-next">{main?.kind === 'timer' ? moment(timer.until) : t.timer(moment(timer.until))}</td>;
}
