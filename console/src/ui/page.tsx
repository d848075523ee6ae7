// The frame of a page with one list.
import type { ComponentChildren } from 'preact';
import type { Resource } from '../resource';
import { Broken, Loading } from './states';

export function ListPage<T>({ title, sub, actions, source, children, above }: { title: string; sub?: string; actions?: ComponentChildren; above?: ComponentChildren; source: Resource<T>; children: (value: T) => ComponentChildren }) {
  return (
    <main class="main is-fixed" id="main">
      <div class="head">
        <h1>{title}</h1>
        {sub && <span class="sub">{sub}</span>}
        {actions && <div class="actions">{actions}</div>}
      </div>
      {above}
      {source.value !== undefined ? children(source.value) : source.error ? <Broken error={source.error} retry={source.reload} /> : <Loading />}
    </main>
  );
}

export function Scroller({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="tablewrap grow" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
