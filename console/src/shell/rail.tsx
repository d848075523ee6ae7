import { base_path, link } from '../base_path';
import { info } from '../clock';
import { definitions, names } from '../definitions';
import { useFigures } from '../figures';
import { may, session } from '../session';
import { Icon } from '../ui/icon';
import { count, words } from '../words';
import { Wordmark } from './wordmark';

const is_here = (path: string, target: string): boolean => {
  const own = path.slice(base_path.length) || '/';
  return target === '/' ? own === '/' : own === target || own.startsWith(`${target}/`);
};

export function Rail({ path }: { path: string }) {
  const t = words.value.nav;
  const figures = useFigures().value;
  const figure = (name: string): number | undefined => figures?.get(name);
  const entry = (target: string, icon: string, text: string, number?: number, hot = false) => (
    <a href={link(target)} aria-current={is_here(path, target) ? 'page' : undefined}>
      <Icon name={icon} />
      {text}
      {number !== undefined && number > 0 && <span class={hot ? 'count is-hot' : 'count'}>{count(number)}</span>}
    </a>
  );
  const suspended = figure('cairn_instances_suspended');
  return (
    <>
      <a class="brand" href={link('/')}>
        <Wordmark />
        {session.value?.auth === 'none' && <span class="env">dev</span>}
      </a>
      <nav class="rail" aria-label={t.main}>
        {may('view') && entry('/', 'home', t.home)}
        {may('view') && entry('/instances', 'instances', t.instances, suspended, true)}
        {may('view_tasks') && entry('/inbox', 'inbox', t.inbox, figure('cairn_tasks_open'))}
        {may('view') && entry('/definitions', 'definitions', t.definitions, definitions.value.length ? names().length : undefined)}
        {may('view') && entry('/schedules', 'schedules', t.schedules)}
        {may('view') && <h2>{t.operate}</h2>}
        {may('view') && entry('/errors', 'suspended', t.errors)}
        {may('view') && entry('/dead-letters', 'letters', t.dead_letters, figure('cairn_dead_letters'), true)}
        {may('view') && entry('/runs', 'workers', t.runs, figure('cairn_runs_ready'))}
        {may('view') && entry('/alerts', 'bell', t.alerts)}
        {may('operate') && entry('/batches', 'batches', t.batches)}
        {may('view') && entry('/events', 'stream', t.events)}
        {may('administer') && entry('/audit', 'audit', t.audit)}
        {may('administer') && entry('/keys', 'key', t.keys)}
        {entry('/system', 'system', t.system)}
        {info.value && (
          <div class="foot">
            <span>cairn {info.value.cairn}</span>
            <span class="cut" title={info.value.node}>
              {info.value.node}
            </span>
          </div>
        )}
      </nav>
    </>
  );
}

export function TabBar({ path, onMore }: { path: string; onMore: () => void }) {
  const t = words.value.nav;
  const entry = (target: string, icon: string, text: string) => (
    <a href={link(target)} aria-current={is_here(path, target) ? 'page' : undefined}>
      <Icon name={icon} />
      {text}
    </a>
  );
  return (
    <nav class="tabbar" aria-label={t.small}>
      {may('view') && entry('/', 'home', t.home)}
      {may('view_tasks') && entry('/inbox', 'inbox', t.inbox)}
      {may('view') && entry('/instances', 'instances', t.instances)}
      <button type="button" onClick={onMore}>
        <Icon name="more" />
        {t.more}
      </button>
    </nav>
  );
}
