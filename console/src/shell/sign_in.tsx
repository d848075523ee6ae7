import { useEffect, useState } from 'preact/hooks';
import { Problem, sign_in, sign_in_with_code } from '../api';
import { link } from '../base_path';
import { session_lost, sign_in_ways } from '../session';
import { language } from '../settings';
import { reason_of } from '../ui/states';
import { Icon } from '../ui/icon';
import { words } from '../words';
import { Wordmark } from './wordmark';

// The provider sends the browser back to this page.
const page_of_provider = '/sign-in';
const page_before = 'cairn.page_before_sign_in';

export function SignIn() {
  const t = words.value.sign_in;
  const [key, set_key] = useState('');
  const [error, set_error] = useState('');
  const [busy, set_busy] = useState(false);
  const with_account = sign_in_ways.value.includes('oidc');
  // The provider sends the user back here with a code; its address must not stay in the history.
  useEffect(() => {
    if (window.location.pathname !== link(page_of_provider)) return;
    const given = new URLSearchParams(window.location.search);
    const before = sessionStorage.getItem(page_before);
    window.history.replaceState(null, '', before?.startsWith(link('/')) ? before : link('/'));
    if (!given.has('code')) {
      if (given.has('error')) set_error(t.not_signed_in);
      return;
    }
    set_busy(true);
    sign_in_with_code(given.get('code')!, given.get('state') ?? '')
      .catch((problem) => set_error(problem instanceof Problem && problem.status < 500 ? t.not_signed_in : reason_of(problem)))
      .finally(() => set_busy(false));
  }, []);
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
        {with_account && (
          <a class="btn is-primary" href={link('/v1/session/login')} onClick={() => sessionStorage.setItem(page_before, window.location.pathname + window.location.search)}>
            {t.account}
          </a>
        )}
        <p class="soft">{session_lost.value ? t.lost_text : with_account ? t.or_key : t.text}</p>
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
        <button class={with_account ? 'btn' : 'btn is-primary'} type="submit" disabled={busy}>
          {t.go}
        </button>
        <button class="btn is-quiet is-s" type="button" onClick={() => (language.value = language.value === 'de' ? 'en' : 'de')}>
          {language.value === 'de' ? 'English' : 'Deutsch'}
        </button>
      </form>
    </main>
  );
}
