import { useState } from 'preact/hooks';
import { Problem, sign_in } from '../api';
import { session_lost } from '../session';
import { language } from '../settings';
import { reason_of } from '../ui/states';
import { Icon } from '../ui/icon';
import { words } from '../words';
import { Wordmark } from './wordmark';

export function SignIn() {
  const t = words.value.sign_in;
  const [key, set_key] = useState('');
  const [error, set_error] = useState('');
  const [busy, set_busy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (!key.trim()) {
      set_error(t.empty);
      return;
    }
    set_busy(true);
    try {
      await sign_in(key.trim());
    } catch (problem) {
      set_error(problem instanceof Problem && problem.status === 401 ? t.wrong : reason_of(problem));
    } finally {
      set_busy(false);
    }
  };
  return (
    <main class="door" id="main">
      <form class="doorbox" onSubmit={submit}>
        <span class="brand">
          <Wordmark />
        </span>
        <h1>{session_lost.value ? t.lost_title : t.title}</h1>
        <p class="soft">{session_lost.value ? t.lost_text : t.text}</p>
        <div class="f">
          <label for="key">{t.key}</label>
          <input
            class="input mono"
            id="key"
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            value={key}
            aria-invalid={error ? 'true' : undefined}
            aria-describedby={error ? 'key-error' : 'key-help'}
            onInput={(event) => {
              set_key(event.currentTarget.value);
              set_error('');
            }}
          />
          {error ? (
            <span class="error" id="key-error" role="alert">
              <Icon name="suspended" />
              {error}
            </span>
          ) : (
            <span class="help" id="key-help">
              {t.help} <span class="mono">cairn keys create</span>
            </span>
          )}
        </div>
        <button class="btn is-primary" type="submit" disabled={busy}>
          {t.go}
        </button>
        <button class="btn is-quiet is-s" type="button" onClick={() => (language.value = language.value === 'de' ? 'en' : 'de')}>
          {language.value === 'de' ? 'English' : 'Deutsch'}
        </button>
      </form>
    </main>
  );
}
