// A time: relative in the text, exact on hover.
import { exact, is_past, moment, since, until, words } from '../words';

export function Ago({ at, parts = 1 }: { at: string; parts?: 1 | 2 }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {words.value.time.ago(since(at, parts))}
    </time>
  );
}

export function Since({ at, parts = 1 }: { at: string; parts?: 1 | 2 }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {since(at, parts)}
    </time>
  );
}

export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={exact(at)}>
      {moment(at)}
    </time>
  );
}

export function Due({ at }: { at: string }) {
  const t = words.value.time;
  return (
    <time dateTime={at} title={exact(at)}>
      {is_past(at) ? t.overdue(since(at, 1)) : t.left(until(at, 1))}
    </time>
  );
}
