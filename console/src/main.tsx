import './common';
import { render } from 'preact';
import { App } from './app';
import { load_session } from './api';
import { start_keys } from './keys';
import { apply_theme } from './settings';
import { load_words } from './words';

apply_theme();
start_keys();
void Promise.all([load_words(), load_session()]).then(() => render(<App />, document.getElementById('app')!));
