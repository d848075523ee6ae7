// The last rows of a list that is oldest first and whose cursor is the number of a row.
import { get, query } from './api';
import type { AuditRow } from './api_types';
import type { CloudEvent } from './live';

interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}
export type ReadPage<T> = (after: number, limit: number) => Promise<Page<T>>;

// Remembers the end of the list: the next call needs one request, unless many rows were added.
export function last_rows<T>(most: number, number_of: (row: T) => number) {
  let end = 0;
  return async (read: ReadPage<T>): Promise<T[]> => {
    let page = await read(Math.max(0, end - most), most);
    if (page.items.length === 0 && end > 0) {
      end = 0;
      page = await read(0, most);
    }
    if (page.next_cursor) {
      const follows = async (after: number) => (await read(after, 1)).items.length > 0;
      let low = Number(page.next_cursor); // rows follow it
      let high = low * 2;
      while (await follows(high)) [low, high] = [high, high * 2];
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (await follows(middle)) low = middle;
        else high = middle;
      }
      page = await read(Math.max(0, high - most), most);
    }
    const last = page.items.at(-1);
    if (last) end = number_of(last);
    return page.items;
  };
}

const page_rows = 200;
const audit = last_rows<AuditRow>(page_rows, (row) => row.sequence);
const events = last_rows<CloudEvent>(page_rows, (event) => Number(event.sequence));
const read_from =
  <T>(path: string, signal?: AbortSignal): ReadPage<T> =>
  (after, limit) =>
    get<Page<T>>(query(path, { limit, cursor: after || undefined }), signal);

export const last_audit_rows = (signal?: AbortSignal): Promise<AuditRow[]> => audit(read_from('/v1/audit', signal));
export const last_events = (): Promise<CloudEvent[]> => events(read_from('/v1/outbox'));
