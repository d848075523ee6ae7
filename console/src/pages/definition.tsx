// One definition: its diagram with the number of instances at each step, its versions, what changed, its source.
import { useRoute } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import { get, get_text, part, query, send } from '../api';
import type { Definition, Instance, InstancePage } from '../api_types';
import { link } from '../base_path';
import { shell } from '../commands';
import { compare, type StepChange } from '../definition/compare';
import { compare_versions, load_definitions } from '../definitions';
import { Diagram, type View } from '../diagram/diagram';
import type { Layout } from '../diagram/layout';
import { read_svg, type Mark } from '../diagram/svg_reader';
import { TextTree } from '../diagram/text_tree';
import { main_wait } from '../instance_status';
import type { Json } from '../json/lossless';
import { useResource } from '../resource';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { Command } from '../ui/copy';
import { Icon } from '../ui/icon';
import { Broken, Loading, reason_of } from '../ui/states';
import { Status } from '../ui/status';
import { toast } from '../ui/toast';
import { Dialog } from '../ui/dialog';
import { count, moment, words } from '../words';

interface Found {
  versions: Definition[];
  shown: Definition;
  svg: Mark | null;
  layout: Layout;
  canonical: Json;
  previous: { version: string; canonical: Json } | null;
  open: Map<string, number>; // open instances by version
  more: boolean;
  at: Map<string, number>; // open instances of the shown version by step
}

const sampled = 60;

async function load(name: string, version: string | undefined, signal: AbortSignal): Promise<Found> {
  const all = (await load_definitions(true)).filter((one) => one.name === name).sort((a, b) => compare_versions(b.version, a.version));
  const newest = await get<Definition>(`/v1/definitions/${part(name)}`, signal);
  const versions = all.length ? all : [newest];
  const shown = versions.find((one) => one.version === version) ?? versions.find((one) => one.version === newest.version) ?? newest;
  const at = `/v1/definitions/${part(name)}/${part(shown.version)}`;
  const before = versions[versions.findIndex((one) => one.version === shown.version) + 1];
  const [svg, layout, canonical, previous, ...lists] = await Promise.all([
    get_text(query(`${at}/diagram`, { format: 'svg', theme: 'tokens' }), signal).then(read_svg),
    get<unknown>(query(`${at}/diagram`, { format: 'json' }), signal).then((one) => one as Layout),
    get<Json>(at, signal),
    before ? get<Json>(`/v1/definitions/${part(name)}/${part(before.version)}`, signal).then((one) => ({ version: before.version, canonical: one })) : null,
    ...(['running', 'waiting', 'suspended'] as const).map((status) => get<InstancePage>(query('/v1/instances', { definition: name, status, limit: 200 }), signal)),
  ]);
  const rows = lists.flatMap((page) => (page as InstancePage).items);
  const open = new Map<string, number>();
  for (const row of rows) open.set(row.version, (open.get(row.version) ?? 0) + 1);
  const mine = rows.filter((row) => row.version === shown.version);
  const full = await Promise.all(mine.slice(0, sampled).map((row) => (row.status === 'waiting' ? get<Instance>(`/v1/instances/${part(row.id)}`, signal).catch(() => row) : row)));
  const steps = new Map<string, number>();
  for (const row of full) {
    const step = row.error?.step ?? main_wait(row.waits)?.step;
    if (step) steps.set(step, (steps.get(step) ?? 0) + 1);
  }
  return { versions, shown, svg, layout, canonical, previous, open, more: lists.some((page) => Boolean((page as InstancePage).next_cursor)) || mine.length > sampled, at: steps };
}

export default function DefinitionPage() {
  const { params } = useRoute();
  return <OneDefinition key={`${params.name}@${params.version ?? ''}`} name={params.name ?? ''} version={params.version} />;
}

function OneDefinition({ name, version }: { name: string; version?: string }) {
  const t = words.value.definition;
  const [tab, set_tab] = useState<'overview' | 'source'>('overview');
  const [mode, set_mode] = useState<View | 'text'>('fit');
  const [selected, set_selected] = useState<string | undefined>();
  const [retiring, set_retiring] = useState(false);
  const found = useResource(`definition ${name} ${version}`, (signal) => load(name, version, signal), { live: (event) => event.type.startsWith('cairn.instance.'), least: 5000 });
  const data = found.value;
  const title = data?.shown.title ?? name;
  useTitle(title, [{ text: words.value.nav.definitions, href: link('/definitions') }]);
  const changes = useMemo(() => (data?.previous ? compare(data.previous.canonical, data.canonical) : []), [data]);
  const counts = useMemo(() => new Map([...(data?.at ?? [])].map(([step, number]) => [step, count(number)])), [data]);
  if (!data) return <main class="main" id="main">{found.error ? <Broken error={found.error} retry={found.reload} /> : <Loading />}</main>;
  const total = [...data.open.values()].reduce((sum, one) => sum + one, 0);
  const newest = data.versions[0]!;
  const older = [...data.open].filter(([one]) => one !== newest.version).reduce((sum, [, one]) => sum + one, 0);
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{title}</h1>
        <span class="sub mono">{name}</span>
        <Status tone="running" word={t.open(count(total) + (data.more ? '+' : ''))} pill />
        <div class="actions">
          <Command text={`cairn render ${shell(name)}`} />
          {may('deploy') && !data.shown.retired_at && (
            <button class="btn" type="button" onClick={() => set_retiring(true)}>
              {t.retire}
            </button>
          )}
          {may('start') && !data.shown.retired_at && (
            <a class="btn is-primary is-keep" href={link(`/start/${part(name)}`)}>
              <Icon name="plus" />
              {words.value.start.button}
            </a>
          )}
        </div>
      </div>
      <nav class="tabs" aria-label={t.tabs_label}>
        {(['overview', 'source'] as const).map((one) => (
          <a key={one} href={`#${one}`} aria-current={tab === one ? 'page' : undefined} onClick={(event) => (event.preventDefault(), set_tab(one))}>
            {t.tabs[one]}
          </a>
        ))}
        <a href={link(query('/instances', { q: `definition:${name}` }))}>
          {words.value.nav.instances} <span class="n">{count(total) + (data.more ? '+' : '')}</span>
        </a>
      </nav>
      {tab === 'source' ? (
        <Source name={name} version={data.shown.version} />
      ) : (
        <>
          <div class="def">
            <div class="col">
              <div class="over">
                <h2 class="h2">{data.shown.version}</h2>
                <span class="muted t12">{data.more ? t.numbers_some(sampled) : t.numbers}</span>
                <span class="grow" />
                <span class="seg" role="group" aria-label={words.value.instance.view}>
                  {(['fit', 'text'] as const).map((one) => (
                    <button key={one} type="button" aria-pressed={mode === one} onClick={() => set_mode(one)}>
                      {words.value.instance.views[one]}
                    </button>
                  ))}
                </span>
              </div>
              <div class="stagebox">
                {mode === 'text' ? (
                  <TextTree layout={data.layout} selected={selected} onSelect={set_selected} />
                ) : data.svg ? (
                  <Diagram svg={data.svg} layout={data.layout} label={t.diagram(title, data.shown.version)} selected={selected} counts={counts} view={mode} onView={set_mode} onSelect={set_selected} />
                ) : null}
              </div>
            </div>
            <aside aria-label={t.versions}>
              <div class="sidehead">
                <h2 class="h2">{t.versions}</h2>
                <span class="muted t12">{t.on_each}</span>
              </div>
              <div class="versions">
                {data.versions.map((one) => {
                  const number = data.open.get(one.version) ?? 0;
                  return (
                    <a key={one.version} href={link(`/definitions/${part(name)}/${part(one.version)}`)} aria-current={one.version === data.shown.version ? 'true' : undefined}>
                      <span class="v">{one.version}</span>
                      <span>{one.retired_at ? t.retired : one === newest ? t.is_newest : number ? t.drains : t.nobody}</span>
                      <span class="strong">{count(number)}</span>
                      <span class="l2">{t.deployed(moment(one.deployed_at))}</span>
                      <svg class="load" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
                        <rect class="bg" width="100" height="6" rx="1" />
                        <rect class="fg" width={total ? (number / total) * 100 : 0} height="6" rx="1" />
                      </svg>
                    </a>
                  );
                })}
              </div>
              {older > 0 && (
                <div class="sidepad">
                  <p class="soft">{t.older(count(older))}</p>
                </div>
              )}
            </aside>
          </div>
          {data.previous && <Changed changes={changes} from={data.previous.version} />}
        </>
      )}
      {retiring && <Retire name={name} version={data.shown.version} onClose={() => set_retiring(false)} onDone={found.reload} />}
    </main>
  );
}

function Changed({ changes, from }: { changes: StepChange[]; from: string }) {
  const t = words.value.definition;
  const number = (kind: StepChange['kind']) => changes.filter((one) => one.kind === kind).length;
  const interesting = changes.filter((one, at) => one.kind !== 'same' || changes[at - 1]?.kind !== 'same').slice(0, 12);
  return (
    <section class="strip" aria-label={t.changed_from(from)}>
      <div class="sect">
        <h2>{t.changed_from(from)}</h2>
        <span class="muted t12">{t.summary(number('changed'), number('new'), number('gone'))}</span>
      </div>
      <ul class="diff" tabIndex={0} aria-label={t.changed_from(from)}>
        {interesting.map((one) => (
          <li key={one.id} class={{ changed: 'is-mod', new: 'is-add', gone: 'is-del', same: '' }[one.kind]}>
            <span class="kind">
              {one.kind !== 'same' && <Icon name={{ changed: 'edit', new: 'plus', gone: 'minus' }[one.kind]} />}
              {t.kinds[one.kind]}
            </span>
            <span class="nm cut">{one.title}</span>
            {one.details.slice(0, 2).map((detail) => (
              <div class="ch cut" key={detail.path} title={`${detail.path}: ${detail.before} → ${detail.after}`}>
                {detail.path.split('.').pop()} <del>{detail.before}</del> → <ins>{detail.after}</ins>
              </div>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Source({ name, version }: { name: string; version: string }) {
  const source = useResource(`source ${name} ${version}`, (signal) => get_text(query(`/v1/definitions/${part(name)}/${part(version)}/source`, { to: 'yaml' }), signal));
  if (!source.value) return source.error ? <Broken error={source.error} retry={source.reload} /> : <Loading />;
  return (
    <pre class="source mono" tabIndex={0} aria-label={words.value.definition.tabs.source}>
      {source.value}
    </pre>
  );
}

function Retire({ name, version, onClose, onDone }: { name: string; version: string; onClose: () => void; onDone: () => void }) {
  const t = words.value.definition;
  const go = async () => {
    try {
      await send('DELETE', `/v1/definitions/${part(name)}/${part(version)}`);
      toast(t.retired_done(name, version));
      onDone();
    } catch (problem) {
      toast(reason_of(problem), undefined, true);
    }
    onClose();
  };
  return (
    <Dialog
      title={t.retire_title(name, version)}
      onClose={onClose}
      onSubmit={() => void go()}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn is-fill-danger" type="submit">
            {t.retire}
          </button>
        </>
      }
    >
      <p class="soft">{t.retire_text}</p>
    </Dialog>
  );
}
