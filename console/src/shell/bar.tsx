import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { connected } from '../live';
import { act_as, is_dark, language, live_on, other_theme, zone } from '../settings';
import { session, user } from '../session';
import { sign_out } from '../api';
import { Icon } from '../ui/icon';
import { Menu, type MenuItem } from '../ui/menu';
import { words } from '../words';
import { crumbs } from './crumbs';
import { ActAs } from './act_as';

export const initials = (name: string): string =>
  (name.split(/[\s._@-]+/).filter(Boolean).slice(0, 2).map((one) => one[0]).join('') || '?').toUpperCase();

export function Bar({ onPalette, onHelp }: { path: string; onPalette: () => void; onHelp: () => void }) {
  const t = words.value.shell;
  const [acting, set_acting] = useState(false);
  const name = act_as.value || user.value;
  const own: MenuItem[] = [
    { text: zone.value === 'utc' ? t.show_local : t.show_utc, icon: 'time', run: () => (zone.value = zone.value === 'utc' ? 'local' : 'utc') },
    { text: language.value === 'de' ? 'English' : 'Deutsch', icon: 'message', run: () => (language.value = language.value === 'de' ? 'en' : 'de') },
  ];
  if (session.value?.auth === 'none') own.push({ text: t.act_as, icon: 'users', run: () => set_acting(true) });
  else own.push({ text: t.sign_out, icon: 'out', run: () => void sign_out() });
  return (
    <header class="bar">
      <nav class="crumbs" aria-label={t.where}>
        {crumbs.value.map((one, at) => (
          <Fragment key={at}>
            {at > 0 && <Icon name="right" size={12} />}
            {one.href ? <a href={one.href}>{one.text}</a> : <span aria-current="page">{one.text}</span>}
          </Fragment>
        ))}
      </nav>
      <button class="palette" type="button" onClick={onPalette}>
        <Icon name="search" />
        <span class="grow">{t.palette}</span>
        <kbd aria-hidden="true">Ctrl</kbd>
        <kbd aria-hidden="true">K</kbd>
      </button>
      <button class="live" type="button" aria-pressed={live_on.value} title={connected.value ? t.live_title : t.polling_title} onClick={() => (live_on.value = !live_on.value)}>
        {live_on.value ? (connected.value ? t.live : t.polling) : t.paused}
      </button>
      <button class="btn is-quiet is-icon" type="button" aria-label={t.theme} onClick={other_theme}>
        <Icon name={is_dark() ? 'sun' : 'moon'} />
      </button>
      <button class="btn is-quiet is-icon" type="button" aria-label={t.help} onClick={onHelp}>
        <Icon name="help" />
      </button>
      <Menu label={t.account(name)} items={own} quiet>
        <span class="avatar" aria-hidden="true">
          {initials(name)}
        </span>
        <span class="vh">{t.account(name)}</span>
      </Menu>
      {acting && <ActAs onClose={() => set_acting(false)} />}
    </header>
  );
}
