// The diagram as text: the same tree as `cairn show` prints.
import { words } from '../words';
import { Icon } from '../ui/icon';
import type { Layout } from './layout';
import type { StepLook } from './svg_reader';

const icons: Record<string, [string, string]> = {
  done: ['completed', 'completed'],
  current: ['running', 'running'],
  waiting: ['time', 'person'],
  failing: ['retrying', 'retrying'],
  failed: ['failed', 'suspended'],
  skipped: ['skip', 'cancelled'],
};

export function TextTree({ layout, looks, selected, onSelect }: { layout: Layout; looks?: Map<string, StepLook>; selected?: string; onSelect: (step: string) => void }) {
  const t = words.value.diagram;
  return (
    <ul class="texttree" aria-label={t.as_text}>
      {layout.rows.map((row, at) => {
        if (row.node === undefined) {
          return (
            <li key={at} class={`is-lane d${Math.min(row.depth, 12)}`}>
              {row.lane}
            </li>
          );
        }
        const node = layout.nodes[row.node]!;
        const step = node.step ?? '';
        const look = looks?.get(step);
        const [icon, tone] = icons[look?.state ?? ''] ?? ['start', ''];
        const note = look?.note.startsWith(`${node.text}: `) ? look.note.slice((node.text?.length ?? 0) + 2) : '';
        return (
          <li key={at} class={`d${Math.min(row.depth, 12)}`}>
            <button type="button" data-st={tone} aria-pressed={step === selected} onClick={() => onSelect(step)}>
              <Icon name={icon} />
              <span>{node.text ?? step}</span>
              <span class="muted">{note || (look?.state ? (t.states[look.state as keyof typeof t.states] ?? look.state) : '')}</span>
            </button>
          </li>
        );
      })}
    </ul>
  );
}
