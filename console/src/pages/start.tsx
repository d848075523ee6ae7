// Start an instance: choose a definition, fill in its form, look at inputs used before.
import { useLocation, useRoute } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import { get, part, Problem, query, send } from '../api';
import type { Definition, Instance, InstanceAnswer, InstancePage } from '../api_types';
import { link } from '../base_path';
import { curl, shell } from '../commands';
import { load_definitions } from '../definitions';
import { reference_of } from '../error_groups';
import { faults, filled, first_value, type Schema } from '../form/model';
import { JsonField } from '../form/json_field';
import { SchemaForm } from '../form/schema_form';
import { is_object, stringify, type Json } from '../json/lossless';
import { useKeys } from '../keys';
import { useResource } from '../resource';
import { useTitle } from '../shell/crumbs';
import { Command, CopyButton, short_id } from '../ui/copy';
import { Icon } from '../ui/icon';
import { Broken, Empty, Loading, reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { Ago } from '../ui/when';
import { words } from '../words';

export default function StartPage() {
  const { params } = useRoute();
  return params.name ? <StartForm key={params.name} name={params.name} /> : <Choose />;
}

function Choose() {
  const t = words.value.start;
  useTitle(t.title, [{ text: words.value.nav.instances, href: link('/instances') }]);
  const list = useResource('definitions', () => load_definitions());
  const newest = new Map((list.value ?? []).filter((one) => !one.retired_at).map((one) => [one.name, one]));
  return (
    <main class="main" id="main">
      <div class="head">
        <h1>{t.choose}</h1>
      </div>
      <div class="pad">
        {!list.value ? (
          list.error ? <Broken error={list.error} retry={list.reload} /> : <Loading />
        ) : newest.size === 0 ? (
          <Empty icon="definitions" title={words.value.definitions.none}>
            <Command text="cairn definitions deploy my.yaml" />
          </Empty>
        ) : (
          <ul class="list card">
            {[...newest.values()].map((one) => (
              <li key={one.name}>
                <Icon name="definitions" />
                <span class="grow cut">
                  <a class="plainlink strong" href={link(`/start/${part(one.name)}`)}>{one.title ?? one.name}</a> <span class="mono muted">{one.name}</span>
                </span>
                <span class="muted">{one.version}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </main>
  );
}

interface Found {
  definition: Definition;
  schema: Schema | null;
  recent: Instance[];
}

async function load(name: string, signal: AbortSignal): Promise<Found> {
  const definition = await get<Definition>(`/v1/definitions/${part(name)}`, signal);
  const [canonical, page] = await Promise.all([
    get<Json>(`/v1/definitions/${part(name)}/${part(definition.version)}`, signal),
    get<InstancePage>(query('/v1/instances', { definition: name, limit: 5 }), signal),
  ]);
  const recent = await Promise.all(page.items.map((one) => get<Instance>(`/v1/instances/${part(one.id)}`, signal).catch(() => null)));
  const schema = is_object(canonical) && is_object(canonical.input) ? canonical.input : null;
  return { definition, schema, recent: recent.filter((one): one is Instance => one !== null) };
}

function StartForm({ name }: { name: string }) {
  const found = useResource(`start ${name}`, (signal) => load(name, signal), { live: () => false, poll: 600000 });
  const t = words.value.start;
  const title = found.value?.definition.title ?? name;
  useTitle(t.title_of(title), [{ text: words.value.nav.definitions, href: link('/definitions') }, { text: title, href: link(`/definitions/${part(name)}`) }]);
  if (!found.value) return <main class="main" id="main">{found.error ? <Broken error={found.error} retry={found.reload} /> : <Loading />}</main>;
  return <Filled found={found.value} />;
}

function Filled({ found }: { found: Found }) {
  const t = words.value.start;
  const { route } = useLocation();
  const { definition, schema } = found;
  const [value, set_value] = useState<Json | undefined>(() => (schema ? first_value(schema, schema) : {}) ?? {});
  const [errors, set_errors] = useState<Map<string, string>>(new Map());
  const [general, set_general] = useState('');
  const [as_json, set_as_json] = useState(!schema);
  const [shape, set_shape] = useState(0);
  const [busy, set_busy] = useState(false);
  const input = useMemo(() => stringify(filled(value) ?? {}), [value]);
  const go = async () => {
    const wrong = schema ? faults(schema, value, words.value.form) : new Map<string, string>();
    set_errors(wrong);
    set_general('');
    if (wrong.size > 0) {
      set_general(words.value.task.fix(wrong.size));
      document.querySelector<HTMLElement>('.startform [aria-invalid]')?.focus();
      return;
    }
    set_busy(true);
    try {
      const answer = await send<InstanceAnswer>('POST', '/v1/instances', { definition: definition.name, input: filled(value) ?? {} }, { key: crypto.randomUUID?.() });
      toast(t.started(definition.title ?? definition.name));
      route(link(`/instances/${part(answer.id)}`));
    } catch (problem) {
      set_busy(false);
      if (problem instanceof Problem && problem.errors.length) set_errors(new Map(problem.errors.map((one) => [(one.pointer ?? '').replace(/^\/input/, ''), one.detail])));
      set_general(reason_of(problem));
    }
  };
  useKeys({ 'Ctrl+Enter': () => void go(), Escape: () => route(link(`/definitions/${part(definition.name)}`)) });
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{t.title_of(definition.title ?? definition.name)}</h1>
        <span class="sub">{definition.version}</span>
      </div>
      <div class="startpage">
        <form
          class="startform form"
          onSubmit={(event) => {
            event.preventDefault();
            void go();
          }}
        >
          {schema && (
            <span class="seg" role="group" aria-label={t.how}>
              <button type="button" aria-pressed={!as_json} onClick={() => set_as_json(false)}>
                {t.form}
              </button>
              <button type="button" aria-pressed={as_json} onClick={() => set_as_json(true)}>
                JSON
              </button>
            </span>
          )}
          {as_json || !schema ? <JsonField key={shape} id="input" label={t.input} value={value} error={errors.get('')} onChange={set_value} /> : <SchemaForm id="input" schema={schema} value={value} errors={errors} onChange={set_value} />}
          {general && (
            <div class="f">
              <span class="error" role="alert">
                <Icon name="suspended" />
                {general}
              </span>
            </div>
          )}
          <div class="row">
            <button class="btn is-primary" type="submit" disabled={busy}>
              <Icon name="play" />
              {t.go} <kbd>Ctrl</kbd>
              <kbd>↵</kbd>
            </button>
            <span class="grow" />
            <span class="row">
              <CopyButton text={`cairn start ${shell(definition.name)} --input ${shell(input)}`} label={words.value.common.copy_command} />
              <span class="mono t12">cairn</span>
              <CopyButton text={curl('POST', '/v1/instances', `{"definition":${JSON.stringify(definition.name)},"input":${input}}`)} label={words.value.instances.copy_curl} />
              <span class="mono t12">curl</span>
            </span>
          </div>
        </form>
        <aside class="side" aria-label={t.recent}>
          <h3>{t.recent}</h3>
          {found.recent.length === 0 && <p class="muted">{t.no_recent}</p>}
          {found.recent.map((one) => (
            <button key={one.id} class="recent" type="button" onClick={() => (set_value(one.input), set_shape(shape + 1), set_errors(new Map()))}>
              <span class="row">
                <strong class="grow cut">{reference_of(one) || short_id(one.id)}</strong>
                <span class="muted t12">
                  <Ago at={one.started_at} />
                </span>
              </span>
              <span class="mono muted cut">{stringify(one.input ?? null).slice(0, 120)}</span>
            </button>
          ))}
        </aside>
      </div>
    </main>
  );
}
