import './common';
import { render } from 'preact';
import { App } from './app';
import { load_session } from './api';
import { link } from './base_path';
import { start_keys } from './keys';
import { apply_language, apply_theme } from './settings';
import { load_words } from './words';

apply_theme();
apply_language();
const place = document.getElementById('app')!;
if (location.pathname.startsWith(link('/t/'))) {
  // A link to one question. The person has no account, so nothing else is loaded.
  void Promise.all([import('./approve/page'), load_words()]).then(([{ ApprovePage }]) => render(<ApprovePage />, place));
} else {
  start_keys();
  void Promise.all([load_words(), load_session()]).then(() => render(<App />, place));
}
