// The frame: who is here, which page is shown, what is always on screen.
import type { ComponentType } from 'preact';
import lazy from 'preact-iso/lazy';
import { LocationProvider, Route, Router, useLocation } from 'preact-iso/router';
import { useEffect, useState } from 'preact/hooks';
import { load_session } from './api';
import { base_path, link } from './base_path';
import { ask_time, start_clock } from './clock';
import { load_definitions } from './definitions';
import { useKeys } from './keys';
import { start_live } from './live';
import { may, server_away, session } from './session';
import { live_on, other_theme } from './settings';
import { AwayBanner } from './shell/away_banner';
import { Bar } from './shell/bar';
import { Rail, TabBar } from './shell/rail';
import { Help } from './shell/help';
import { SignIn } from './shell/sign_in';
import { keep_letters, take_letters } from './shell/typed_ahead';
import { Toasts } from './ui/toast';
import { words } from './words';

const page = (load: () => Promise<{ default: ComponentType }>) => lazy(load) as unknown as ComponentType<object>;
const pages = {
  '/': page(() => import('./pages/home')),
  '/instances': page(() => import('./pages/instances')),
  '/instances/:id': page(() => import('./pages/instance')),
  '/inbox/:id?': page(() => import('./pages/inbox')),
  '/definitions': page(() => import('./pages/definitions')),
  '/definitions/:name/:version?': page(() => import('./pages/definition')),
  '/start/:name?': page(() => import('./pages/start')),
  '/errors': page(() => import('./pages/errors')),
  '/alerts': page(() => import('./pages/alerts')),
  '/batches': page(() => import('./pages/batches')),
  '/batches/:id': page(() => import('./pages/batch')),
  '/schedules': page(() => import('./pages/schedules')),
  '/runs': page(() => import('./pages/runs')),
  '/dead-letters': page(() => import('./pages/dead_letters')),
  '/events': page(() => import('./pages/events')),
  '/audit': page(() => import('./pages/audit')),
  '/keys': page(() => import('./pages/keys')),
  '/system': page(() => import('./pages/system')),
} as const;
const Unknown = page(() => import('./pages/unknown'));

export function App() {
  if (session.value === undefined) return <Away />;
  if (session.value === null) return <SignIn />;
  return (
    <LocationProvider scope={base_path || undefined}>
      <Frame />
    </LocationProvider>
  );
}

// The server did not answer the first question. Ask again until it does.
function Away() {
  const t = words.value.away;
  useEffect(() => {
    const timer = setInterval(() => void load_session(), 3000);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="door" id="main">
      <div class="doorbox">
        <h1>{t.title}</h1>
        <p class="soft">{t.text}</p>
        <button class="btn is-primary" type="button" onClick={() => void load_session()}>
          {t.now}
        </button>
      </div>
    </main>
  );
}

function Frame() {
  const location = useLocation();
  const [open, set_open] = useState<'palette' | 'help' | null>(null);
  const [Palette, set_palette] = useState<ComponentType<{ onClose: () => void }> | null>(null);
  const open_palette = () => {
    if (open === 'palette') return;
    keep_letters();
    set_open('palette');
  };
  useEffect(() => {
    if (open !== 'palette' || Palette) return;
    const failed = () => {
      take_letters();
      set_open(null);
    };
    void import('./shell/palette').then((module) => set_palette(() => module.Palette), failed);
  }, [open, Palette]);
  useEffect(() => {
    start_clock();
    if (may('view')) {
      void ask_time().catch(() => {});
      void load_definitions().catch(() => {});
      start_live();
    }
    const timer = setInterval(() => {
      if (may('view') && (live_on.value || server_away.value)) void ask_time().catch(() => {});
    }, 30000);
    return () => clearInterval(timer);
  }, []);
  // A user who may only answer tasks starts with the inbox.
  const to_inbox = (location.path.slice(base_path.length) || '/') === '/' && !may('view') && may('view_tasks');
  useEffect(() => {
    if (to_inbox) location.route(link('/inbox'), true);
  }, [to_inbox]);
  useEffect(() => {
    document.getElementById('main')?.scrollTo?.(0, 0);
  }, [location.path]);
  const go = (path: string) => () => location.route(link(path));
  useKeys({
    'g h': go('/'),
    'g i': go('/instances'),
    'g t': go('/inbox'),
    'g d': go('/definitions'),
    'g s': go('/schedules'),
    'g w': go('/runs'),
    t: other_theme,
    l: () => (live_on.value = !live_on.value),
    '?': () => set_open('help'),
    'Ctrl+k': open_palette,
  });
  return (
    <div class="app">
      <a class="skip" href="#main">
        {words.value.shell.skip}
      </a>
      <Rail path={location.path} />
      <Bar path={location.path} onPalette={open_palette} onHelp={() => set_open('help')} />
      <div class="sheet">
        <AwayBanner />
        {to_inbox ? null : (
          <Router>
            {Object.entries(pages).map(([path, component]) => (
              <Route key={path} path={link(path)} component={component} />
            ))}
            <Route default component={Unknown} />
          </Router>
        )}
      </div>
      <TabBar path={location.path} onMore={open_palette} />
      {open === 'palette' && Palette && <Palette onClose={() => set_open(null)} />}
      {open === 'help' && <Help onClose={() => set_open(null)} />}
      <Toasts />
    </div>
  );
}
