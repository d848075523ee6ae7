// An empty store: what to do first.
import { link } from '../base_path';
import { part } from '../api';
import { definitions, names, title_of_definition } from '../definitions';
import { may } from '../session';
import { Command } from '../ui/copy';
import { Icon } from '../ui/icon';
import { words } from '../words';

export function FirstSteps() {
  const t = words.value.first;
  const all = names();
  const example = ['loan.approval', 'hello', 'expense.approval'].find((one) => all.includes(one)) ?? all[0];
  return (
    <main class="main" id="main">
      <div class="first">
        <div class="hello">
          <h1>{t.title}</h1>
          <p>{all.length ? t.text : t.text_empty}</p>
        </div>
        <div class="three">
          <div class="go">
            <svg class="pic" viewBox="14 0 240 84" preserveAspectRatio="xMinYMid meet" aria-hidden="true">
              <path d="M34 42H60M120 42H146M206 42H222" fill="none" stroke="var(--d-edge)" stroke-width="1.3" />
              <circle cx="24" cy="42" r="9" fill="var(--d-start)" stroke="var(--d-start-line)" stroke-width="1.3" />
              <rect x="60" y="26" width="60" height="32" rx="8" fill="var(--d-action)" stroke="var(--d-action-line)" stroke-width="1.3" />
              <path d="M87 38l-4 4 4 4M93 38l4 4-4 4" fill="none" stroke="var(--d-action-line)" stroke-width="1.4" />
              <rect x="146" y="26" width="60" height="32" rx="8" fill="var(--d-task)" stroke="var(--d-task-line)" stroke-width="1.3" />
              <circle cx="176" cy="39" r="3.2" fill="none" stroke="var(--d-task-icon)" stroke-width="1.4" />
              <path d="M170 49c.6-3.3 2.9-5 6-5s5.4 1.7 6 5" fill="none" stroke="var(--d-task-icon)" stroke-width="1.4" />
              <circle cx="230" cy="42" r="7.5" fill="none" stroke="var(--d-start-line)" stroke-width="2.6" />
            </svg>
            <span class="step">1</span>
            <h2>{example ? t.one(title_of_definition(example)) : t.one_none}</h2>
            <p>{t.one_text}</p>
            {may('start') && example ? (
              <a class="btn is-primary" href={link(`/start/${part(example)}`)}>
                <Icon name="play" />
                {t.one_button}
              </a>
            ) : (
              <a class="btn" href={link('/definitions')}>
                {words.value.nav.definitions}
              </a>
            )}
          </div>
          <div class="go">
            <svg class="pic" viewBox="8 0 240 84" preserveAspectRatio="xMinYMid meet" aria-hidden="true">
              <rect x="8" y="8" width="224" height="68" rx="8" fill="var(--sunken)" stroke="var(--border-strong)" />
              <rect x="22" y="20" width="64" height="7" rx="3" fill="var(--border-strong)" />
              <rect x="22" y="34" width="112" height="14" rx="4" fill="var(--surface)" stroke="var(--border-control)" />
              <rect x="22" y="56" width="84" height="7" rx="3" fill="var(--border)" />
              <rect x="160" y="34" width="58" height="20" rx="5" fill="var(--ink)" />
              <path d="M182 44l5 5 9-10" fill="none" stroke="var(--on-ink)" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
            </svg>
            <span class="step">2</span>
            <h2>{t.two}</h2>
            <p>{t.two_text}</p>
            <a class="btn" href={link('/inbox')}>
              <Icon name="inbox" />
              {t.two_button}
            </a>
          </div>
          <div class="go">
            <svg class="pic" viewBox="8 0 240 84" preserveAspectRatio="xMinYMid meet" aria-hidden="true">
              <rect x="92" y="14" width="64" height="56" rx="6" fill="var(--hover)" />
              <path d="M92 14v56M156 14v56" stroke="var(--border-strong)" stroke-width="1.3" stroke-dasharray="3 3" />
              <rect x="8" y="33" width="206" height="18" rx="6" fill="var(--d-task)" stroke="var(--d-task-line)" stroke-width="1.3" stroke-dasharray="5 3" />
              <path d="M112 36l7 6-7 6M126 36l7 6-7 6" fill="none" stroke="var(--d-task-icon)" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" />
              <circle cx="222" cy="42" r="9" fill="var(--d-background)" stroke="var(--d-task-line)" stroke-width="1.4" />
              <path d="M222 37v5l3.5 2" fill="none" stroke="var(--d-task-icon)" stroke-width="1.4" stroke-linecap="round" />
            </svg>
            <span class="step">3</span>
            <h2>{t.three}</h2>
            <p>{t.three_text}</p>
            <a class="btn" href={link('/definitions')}>
              <Icon name="definitions" />
              {t.three_button}
            </a>
          </div>
        </div>
        <div class="or">
          <section class="card">
            <div class="top">
              <h2>{t.terminal}</h2>
            </div>
            <div class="in">
              <span class="muted t12">{t.start_one}</span>
              <Command text={all.includes('hello') || !example ? `cairn start hello --input '{"name":"Ada"}'` : `cairn start ${example} --input '{}'`} />
              <span class="muted t12">{t.see_waiting}</span>
              <Command text="cairn tasks" />
              <span class="muted t12">{t.deploy}</span>
              <Command text="cairn definitions deploy my.yaml" />
            </div>
          </section>
          <section class="card">
            <div class="top">
              <h2>{t.ready}</h2>
              <a class="more" href={link('/definitions')}>
                {t.all(definitions.value.length)}
              </a>
            </div>
            <ul class="list">
              {all.slice(0, 5).map((name) => (
                <li key={name}>
                  <Icon name="definitions" />
                  <span class="grow cut">
                    <a class="plainlink" href={link(`/definitions/${part(name)}`)}>
                      {title_of_definition(name)}
                    </a>{' '}
                    <span class="muted mono">{name}</span>
                  </span>
                  <span class="st" data-st="completed">
                    <Icon name="check" />
                    {t.is_ready}
                  </span>
                </li>
              ))}
              {all.length === 0 && <li class="muted">{t.no_definition}</li>}
            </ul>
          </section>
        </div>
      </div>
    </main>
  );
}
