// What went wrong, as the server groups it: the same error at the same step is one group.
import { get, query } from './api';
import type { ErrorGroup, ErrorGroups, Instance } from './api_types';
import { useResource, type Resource } from './resource';

export type { ErrorGroup };

export const reference_of = (row: { id: string; reference: Instance['reference'] }): string => (row.reference?.key === null || row.reference?.key === undefined ? '' : String(row.reference.key));

export const useErrors = (window: string, more: { definition?: string; status?: string } = {}): Resource<ErrorGroups> =>
  useResource(`errors ${window} ${more.definition ?? ''} ${more.status ?? ''}`, (signal) => get<ErrorGroups>(query('/v1/errors', { window, ...more }), signal), {
    live: (event) => /^cairn\.(instance|incident|run)\./.test(event.type), least: 2000, poll: 5000, always: true,
  });

// What can be done with all instances of a group at once. The ended ones need a decision for each.
export const action_of = (group: ErrorGroup): 'retry' | null => (group.status === 'suspended' ? 'retry' : null);
