// The status of an instance, a task or a run: icon, word and colour, always all three.
import { words } from '../words';
import { Icon } from './icon';

export type Tone = 'running' | 'person' | 'time' | 'event' | 'retrying' | 'suspended' | 'completed' | 'failed' | 'cancelled';

export function Status({ tone, word, pill, icon }: { tone: Tone; word?: string; pill?: boolean; icon?: string }) {
  return (
    <span class={pill ? 'st is-pill' : 'st'} data-st={tone}>
      <Icon name={icon ?? tone} />
      {word ?? words.value.status[tone]}
    </span>
  );
}

export function Tries({ attempt, of }: { attempt: number; of: number }) {
  const marks = Math.min(of, 8);
  const on = of <= 8 ? attempt : Math.round((attempt / of) * 8);
  return (
    <span class="tries" role="img" aria-label={words.value.status.try_of(attempt, of)}>
      {Array.from({ length: marks }, (_, at) => (
        <i class={at < on ? 'on' : ''} key={at} />
      ))}
    </span>
  );
}
