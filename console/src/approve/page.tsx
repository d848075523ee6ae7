// The page behind a link: one question to one person, without an account. It says nothing about the engine.
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Problem, request } from '../api';
import type { LinkedQuestion } from '../api_types';
import { link } from '../base_path';
import { faults, filled, first_value, type Schema } from '../form/model';
import { SchemaForm } from '../form/schema_form';
import { is_object, parse, type Json, type JsonObject } from '../json/lossless';
import { Icon } from '../ui/icon';
import { exact, moment, words } from '../words';
import { decision_of, initials, person, type Choice } from './decision';
import { Facts } from './facts';

const token = (): string => decodeURIComponent(location.pathname.slice(link('/t/').length));

export function ApprovePage() {
  const t = words.value.approve;
  const [page, set_page] = useState<LinkedQuestion | null>(null);
  const [away, set_away] = useState(false);
  const [given, set_given] = useState<Choice | null>(null);
  const load = () =>
    request('GET', '/v1/answer', { headers: { 'x-cairn-link': token() } })
      .then((answer) => answer.text())
      .then((text) => (set_page(parse(text) as unknown as LinkedQuestion), set_away(false)), () => set_away(true));
  useEffect(() => void load(), []);
  useEffect(() => {
    document.title = page?.title ?? t.title;
  }, [page?.title]);
  if (!page) return <Frame>{away ? <Note icon="plug" title={t.away} text={t.away_text} button={t.again} onClick={() => void load()} /> : <p class="soft">{t.loading}</p>}</Frame>;
  if (given) return <Frame><Note icon="completed" title={t.thanks(given.title)} text={page.requester ? t.thanks_text(person(page.requester)) : t.kept} /></Frame>;
  switch (page.state) {
    case 'open': return <Question page={page} onGiven={set_given} onChanged={() => void load()} />;
    case 'answered': return <Frame><Note icon="completed" title={t.answered} text={t.answered_text(person(page.answered_by ?? ''), page.answered_at ? moment(page.answered_at) : '')} /></Frame>;
    case 'expired': return <Frame><Note icon="time" title={t.expired} text={t.expired_text} /></Frame>;
    case 'changed': return <Frame><Note icon="edit" title={t.changed} text={t.changed_text} /></Frame>;
    case 'closed': return <Frame><Note icon="cancelled" title={t.closed} text={t.closed_text} /></Frame>;
    default: return <Frame><Note icon="help" title={t.unknown} text={t.unknown_text} /></Frame>;
  }
}

function Frame({ children }: { children: ComponentChildren }) {
  return (
    <div class="ask">
      <header>
        <b class="row">
          <Icon name="shield" />
          {location.hostname}
        </b>
      </header>
      <main id="main">{children}</main>
    </div>
  );
}

function Note({ icon, title, text, button, onClick }: { icon: string; title: string; text: string; button?: string; onClick?: () => void }) {
  return (
    <div class={icon === 'completed' ? 'note is-done' : 'note'} role="status">
      <Icon name={icon} />
      <h1>{title}</h1>
      <p>{text}</p>
      {button && (
        <button class="btn is-primary is-touch" type="button" onClick={onClick}>
          {button}
        </button>
      )}
    </div>
  );
}

function Question({ page, onGiven, onChanged }: { page: LinkedQuestion; onGiven: (choice: Choice) => void; onChanged: () => void }) {
  const t = words.value.approve;
  const schema = is_object(page.form as Json) ? (page.form as Schema) : null;
  const decision = useMemo(() => (schema ? decision_of(schema, t) : null), [schema, t]);
  const form = decision ? decision.rest : schema;
  const fields = form && is_object(form.properties) && Object.keys(form.properties).length > 0;
  const proposed = is_object(page.answer as Json) ? (page.answer as JsonObject) : {};
  const [value, set_value] = useState<Json | undefined>(() => ({ ...(form ? (first_value(form, form) as JsonObject) : {}), ...proposed }));
  const [errors, set_errors] = useState<Map<string, string>>(new Map());
  const [problem, set_problem] = useState('');
  const [busy, set_busy] = useState(false);
  const body = useRef<HTMLFormElement>(null);
  const due = page.deadline ?? page.due;
  const yes = decision?.choices[1] ?? { value: null, title: t.send, yes: true };

  const give = async (choice: Choice) => {
    if (busy) return;
    const answer = { ...(filled(value) as JsonObject | undefined), ...(decision ? { [decision.name]: choice.value } : {}) };
    const found = schema ? faults(schema, answer, words.value.form) : new Map<string, string>();
    set_errors(found);
    set_problem('');
    if (found.size > 0) {
      setTimeout(() => body.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus());
      set_problem(t.fix);
      return;
    }
    set_busy(true);
    try {
      await request('POST', '/v1/answer', { body: { payload: answer }, headers: { 'x-cairn-link': token() } });
      onGiven(choice);
    } catch (error) {
      if (error instanceof Problem && error.errors.length > 0) set_errors(new Map(error.errors.map((one) => [(one.pointer ?? '').replace(/^\/payload/, ''), one.detail])));
      else if (error instanceof Problem && (error.status === 409 || error.status === 412)) onChanged();
      set_problem(error instanceof Problem ? (error.errors.length > 0 ? t.fix : t.not_taken(error.detail)) : t.away_text);
      set_busy(false);
    }
  };
  const button = (choice: Choice, primary: boolean) => (
    <button class={primary ? 'btn is-primary is-touch' : 'btn is-touch'} type="button" disabled={busy} onClick={() => void give(choice)}>
      {choice.yes && <Icon name="check" />}
      {choice.title}
    </button>
  );
  // The answer that the link proposes is the strong button.
  const says_no = decision !== null && proposed[decision.name] !== undefined && JSON.stringify(proposed[decision.name]) === JSON.stringify(decision.choices[0].value);
  return (
    <div class="ask">
      <header>
        <b class="row">
          <Icon name="shield" />
          {location.hostname}
        </b>
        <span class="grow" />
        {page.person && <span>{t.for_you(person(page.person))}</span>}
      </header>
      <main id="main">
        <div class="from">
          <span class="avatar is-l" aria-hidden="true">
            {page.requester ? initials(page.requester) : <Icon name="person" />}
          </span>
          <span>
            {page.requester ? (
              <>
                <b>{person(page.requester)}</b> {decision ? t.asks_approval : t.asks}
              </>
            ) : (
              t.you_are_asked
            )}
            <br />
            <span title={page.asked_at && exact(page.asked_at)}>{page.asked_at && moment(page.asked_at)}</span>
          </span>
        </div>
        <h1>{page.title}</h1>
        <Facts payload={page.payload as Json} />
        <section>
          <h2 class="vh">{t.steps}</h2>
          <ul class="path">
            {(page.before ?? []).map((one, at) => (
              <li class="is-done" key={at}>
                <Icon name="completed" />
                <span>
                  {one.title}
                  <small>
                    {person(one.person)}, {moment(one.at)}
                  </small>
                </span>
              </li>
            ))}
            <li class="is-you">
              <Icon name="person" />
              <span>
                {t.your_decision}
                {due && <small title={exact(due)}>{t.please_by(moment(due))}</small>}
              </span>
            </li>
          </ul>
        </section>
        {fields && (
          <form ref={body} class="form" aria-label={t.your_answer} onSubmit={(event) => event.preventDefault()}>
            <SchemaForm id="a" schema={form!} value={value} errors={errors} onChange={set_value} />
          </form>
        )}
        <div class="decide">
          <div>
            {problem && (
              <p class="error" role="alert">
                <Icon name="suspended" />
                {problem}
              </p>
            )}
            <div class={decision ? 'two' : 'one'}>
              {decision && button(decision.choices[0], says_no)}
              {button(yes, !says_no)}
            </div>
            <p>{t.kept}</p>
          </div>
        </div>
      </main>
    </div>
  );
}
