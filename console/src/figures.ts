// The figures of /metrics that the console shows beside its pages.
import { get_text } from './api';
import { useResource, type Resource } from './resource';
import { may } from './session';

export type Figures = Map<string, number>;

export function read_figures(text: string): Figures {
  const found: Figures = new Map();
  for (const line of text.split('\n')) {
    const match = /^(cairn_[a-z_]+|process_[a-z_]+) (\S+)$/.exec(line);
    if (match) found.set(match[1]!, Number(match[2]));
  }
  return found;
}

export function useFigures(): Resource<Figures> {
  return useResource('figures', async (signal) => read_figures(await get_text('/metrics', signal)), { live: () => true, least: 6000, poll: 12000, skip: !may('view') });
}
