import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import { part, Problem, request } from '../api';
import type { Deployed } from '../api_types';
import { link } from '../base_path';
import { compare_versions, load_definitions } from '../definitions';
import { CodeField } from '../form/json_field';
import { parse } from '../json/lossless';
import { useResource } from '../resource';
import { may } from '../session';
import { useTitle } from '../shell/crumbs';
import { Command } from '../ui/copy';
import { Dialog } from '../ui/dialog';
import { Icon } from '../ui/icon';
import { Broken, Empty, Loading, reason_of } from '../ui/states';
import { toast } from '../ui/toast';
import { Ago } from '../ui/when';
import { count, words } from '../words';

export default function DefinitionsPage() {
  const t = words.value.definitions;
  useTitle(words.value.nav.definitions);
  const { route } = useLocation();
  const [find, set_find] = useState('');
  const [deploying, set_deploying] = useState(false);
  const list = useResource('definitions', () => load_definitions(true));
  const groups = useMemo(() => {
    const by_name = new Map<string, NonNullable<typeof list.value>>();
    for (const one of list.value ?? []) by_name.set(one.name, [...(by_name.get(one.name) ?? []), one]);
    return [...by_name.entries()].map(([name, versions]) => ({ name, versions: versions.sort((a, b) => compare_versions(b.version, a.version)) }));
  }, [list.value]);
  const rows = groups.filter((one) => `${one.name} ${one.versions[0]!.title ?? ''}`.toLowerCase().includes(find.toLowerCase()));
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{words.value.nav.definitions}</h1>
        <span class="sub">{list.value && count(groups.length)}</span>
        <div class="actions">
          <Command text="cairn definitions list" />
          {may('deploy') && (
            <button class="btn is-primary" type="button" onClick={() => set_deploying(true)}>
              <Icon name="plus" />
              {t.deploy}
            </button>
          )}
        </div>
      </div>
      <div class="filter">
        <Icon name="search" />
        <input class="field" aria-label={t.find} placeholder={t.find} value={find} onInput={(event) => set_find(event.currentTarget.value)} />
      </div>
      {list.error && !list.value ? (
        <Broken error={list.error} retry={list.reload} />
      ) : !list.value ? (
        <Loading />
      ) : rows.length === 0 ? (
        <Empty icon="definitions" title={find ? t.no_match : t.none}>
          {!find && <Command text="cairn definitions deploy my.yaml" />}
        </Empty>
      ) : (
        <div class="tablewrap grow" tabIndex={0} role="region" aria-label={words.value.nav.definitions}>
          <table class="table is-stack cols-definitions">
            <thead>
              <tr>
                <th>{t.title}</th>
                <th class="wide-only">{t.name}</th>
                <th>{t.newest}</th>
                <th class="wide-only">{t.versions}</th>
                <th>{t.deployed}</th>
                <th />
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, versions }) => (
                <tr key={name} onClick={() => route(link(`/definitions/${part(name)}`))}>
                  <td class="ref">
                    <a class="plainlink" href={link(`/definitions/${part(name)}`)}>
                      {versions[0]!.title ?? name}
                    </a>
                  </td>
                  <td class="mono muted wide-only">{name}</td>
                  <td>{versions[0]!.version}</td>
                  <td class="muted wide-only">{versions.length}</td>
                  <td class="muted">
                    <Ago at={versions[0]!.deployed_at} />
                  </td>
                  <td class="is-num" onClick={(event) => event.stopPropagation()}>
                    {may('start') && (
                      <a class="btn is-s" href={link(`/start/${part(name)}`)}>
                        {t.start}
                      </a>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {deploying && <Deploy onClose={() => set_deploying(false)} onDone={list.reload} />}
    </main>
  );
}

function Deploy({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const t = words.value.definitions;
  const { route } = useLocation();
  const [text, set_text] = useState('cairn: 1\nname: my.process\nversion: 1.0.0\ntitle: My process\nsteps:\n  - id: greet\n    task:\n      name: Greet\n      title: Say hello\n');
  const [error, set_error] = useState<string[]>([]);
  const [fine, set_fine] = useState('');
  const send = async (dry: boolean) => {
    set_error([]);
    set_fine('');
    try {
      const response = await request('POST', dry ? '/v1/definitions?dry_run=true' : '/v1/definitions', { text: { type: 'application/yaml', body: text } });
      const answer = parse(await response.text()) as unknown as Deployed;
      if (dry) set_fine(t.valid(answer.name, answer.version));
      else {
        toast(t.done(answer.name, answer.version));
        onDone();
        onClose();
        route(link(`/definitions/${part(answer.name)}`));
      }
    } catch (problem) {
      set_error(problem instanceof Problem && problem.errors.length ? problem.errors.map((one) => `${one.line ? `${one.line}:${one.column} ` : ''}${one.detail}`) : [reason_of(problem)]);
    }
  };
  return (
    <Dialog
      title={t.deploy_title}
      wide
      onClose={onClose}
      onSubmit={() => void send(false)}
      actions={
        <>
          <button class="btn" type="button" onClick={onClose}>
            {words.value.common.not_now}
          </button>
          <button class="btn" type="button" onClick={() => void send(true)}>
            {t.check}
          </button>
          <button class="btn is-primary" type="submit">
            {t.deploy}
          </button>
        </>
      }
    >
      <CodeField id="source" label={t.source} text={text} language="text" tall onText={set_text} />
      {error.map((one) => (
        <div class="f" key={one}>
          <span class="error" role="alert">
            <Icon name="suspended" />
            {one}
          </span>
        </div>
      ))}
      {fine && (
        <p class="st" data-st="completed" role="status">
          <Icon name="check" />
          {fine}
        </p>
      )}
    </Dialog>
  );
}
