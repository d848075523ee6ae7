import { useEffect } from 'preact/hooks';
import { ask_time, tick } from '../clock';
import { server_away } from '../session';
import { Icon } from '../ui/icon';
import { clock_time, words } from '../words';

export function AwayBanner() {
  const away = server_away.value;
  const t = words.value.away;
  const left = 5 - (tick.value % 5);
  useEffect(() => {
    if (away !== null && tick.value % 5 === 0) void ask_time().catch(() => {});
  }, [tick.value, away]);
  if (away === null) return null;
  return (
    <div class="banner" data-st="person" role="alert">
      <Icon name="plug" />
      <span class="grow">
        {t.since(clock_time(new Date(away).toISOString()))} {t.next(left)}
      </span>
      <button class="btn is-s" type="button" onClick={() => void ask_time().catch(() => {})}>
        {t.now}
      </button>
    </div>
  );
}
