// The server and the settings of this browser.
import { useState } from 'preact/hooks';
import { send } from '../api';
import type { RetentionReport } from '../api_types';
import { link } from '../base_path';
import { info, now } from '../clock';
import { useFigures } from '../figures';
import { may, session } from '../session';
import { language, letter_keys, theme, zone, type Language, type Theme, type Zone } from '../settings';
import { useTitle } from '../shell/crumbs';
import { Confirm } from '../ui/confirm';
import { Command } from '../ui/copy';
import { toast } from '../ui/toast';
import { count, exact, lasting, words } from '../words';

export default function SystemPage() {
  const t = words.value.system;
  useTitle(words.value.nav.system);
  const figures = useFigures().value;
  const [asking, set_asking] = useState(false);
  const figure = (name: string) => figures?.get(name);
  const row = (name: string, value: string | undefined) =>
    value === undefined ? null : (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    );
  const number = (name: string) => (figure(name) === undefined ? undefined : count(figure(name)!));
  const age = (name: string) => (figure(name) === undefined ? undefined : lasting(figure(name)! * 1000));
  const choice = <T extends string>(label: string, value: T, options: [T, string][], set: (value: T) => void) => (
    <div class="setting">
      <span>{label}</span>
      <span class="seg" role="group" aria-label={label}>
        {options.map(([one, text]) => (
          <button key={one} type="button" aria-pressed={value === one} onClick={() => set(one)}>
            {text}
          </button>
        ))}
      </span>
    </div>
  );
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{words.value.nav.system}</h1>
        <div class="actions">
          <Command text="cairn doctor" />
        </div>
      </div>
      <div class="pad systemgrid">
        <section class="card">
          <div class="top">
            <h2>{t.you}</h2>
          </div>
          <div class="in">
            <dl class="facts">
              {row(t.user, session.value?.user)}
              {row(t.roles, session.value?.roles.join(', ') || '–')}
              {row(t.auth, session.value ? t.auths[session.value.auth] : undefined)}
              {row(t.may, session.value?.permissions.join(', '))}
            </dl>
          </div>
        </section>
        <section class="card">
          <div class="top">
            <h2>{t.here}</h2>
          </div>
          <div class="in settings">
            {choice<Theme>(t.theme, theme.value, [['system', t.themes.system], ['light', t.themes.light], ['dark', t.themes.dark]], (one) => (theme.value = one))}
            {choice<Language>(t.language, language.value, [['en', 'English'], ['de', 'Deutsch']], (one) => (language.value = one))}
            {choice<Zone>(t.zone, zone.value, [['local', t.zones.local], ['utc', 'UTC']], (one) => (zone.value = one))}
            {choice<'on' | 'off'>(t.letters, letter_keys.value ? 'on' : 'off', [['on', t.on], ['off', t.off]], (one) => (letter_keys.value = one === 'on'))}
          </div>
        </section>
        {info.value && (
          <section class="card">
            <div class="top">
              <h2>{t.server}</h2>
            </div>
            <div class="in">
              <dl class="facts">
                {row(t.version, info.value.cairn)}
                {row(t.node, info.value.node)}
                {row(t.time, exact(new Date(now()).toISOString()))}
                {row(t.memory, figure('process_resident_memory_bytes') === undefined ? undefined : `${count(Math.round(figure('process_resident_memory_bytes')! / 1048576))} MB`)}
                {row(t.descriptors, number('process_open_fds'))}
                {row(t.connections, number('cairn_http_connections'))}
                {row(t.requests_waiting, number('cairn_http_requests_waiting'))}
              </dl>
            </div>
          </section>
        )}
        {figures && (
          <section class="card">
            <div class="top">
              <h2>{t.work}</h2>
              {may('view') && (
                <a class="more" href={link('/metrics')} target="_blank" rel="noreferrer">
                  {t.metrics}
                </a>
              )}
            </div>
            <div class="in">
              <dl class="facts">
                {row(t.suspended, number('cairn_instances_suspended'))}
                {row(t.failed, number('cairn_instances_failed'))}
                {row(t.tasks, number('cairn_tasks_open'))}
                {row(t.ready, number('cairn_runs_ready'))}
                {row(t.ready_age, age('cairn_runs_ready_age_seconds'))}
                {row(t.messages, number('cairn_messages_waiting'))}
                {row(t.timers_late, age('cairn_timers_late_seconds'))}
                {row(t.outbox, number('cairn_outbox_waiting'))}
                {row(t.dead, number('cairn_dead_letters'))}
              </dl>
            </div>
          </section>
        )}
        {may('administer') && (
          <section class="card">
            <div class="top">
              <h2>{t.retention}</h2>
            </div>
            <div class="in">
              <p class="soft">{t.retention_text}</p>
              <p>
                <button class="btn" type="button" onClick={() => set_asking(true)}>
                  {t.retention_run}
                </button>
              </p>
            </div>
          </section>
        )}
      </div>
      {asking && <Retention onClose={() => set_asking(false)} />}
    </main>
  );
}

const kinds = ['completed', 'failed', 'cancelled', 'runs', 'deleted_runs', 'run_events', 'dead_letters', 'outbox', 'keys', 'audit', 'stale_tasks', 'stale_instances'] as const;

// What to remove, and how old it must be. The server keeps the kinds that the request does not name.
function Retention({ onClose }: { onClose: () => void }) {
  const t = words.value.system;
  const [chosen, set_chosen] = useState<string[]>(['completed', 'cancelled']);
  const [age, set_age] = useState('30d');
  return (
    <Confirm
      title={t.retention_title}
      text={t.retention_ask}
      button={t.retention_run}
      danger
      onClose={onClose}
      run={async (reason) => {
        const body = Object.fromEntries(chosen.map((kind) => [kind, age.trim()]));
        let more = true;
        while (more) more = (await send<RetentionReport>('POST', '/v1/retention/run', reason ? { ...body, reason } : body)).more;
        toast(t.retention_done);
      }}
    >
      <fieldset class="f">
        <legend>{t.retention_what}</legend>
        <div class="checks">
          {kinds.map((kind) => (
            <label class="row" key={kind}>
              <input class="check" type="checkbox" checked={chosen.includes(kind)} onChange={() => set_chosen(chosen.includes(kind) ? chosen.filter((one) => one !== kind) : [...chosen, kind])} />
              <span>{t.retention_kinds[kind]}</span>
            </label>
          ))}
        </div>
      </fieldset>
      <div class="f">
        <label for="retention-age">{t.retention_age}</label>
        <input class="input" id="retention-age" value={age} autocomplete="off" onInput={(event) => set_age(event.currentTarget.value)} />
      </div>
    </Confirm>
  );
}
