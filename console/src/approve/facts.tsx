// The facts of a question: the amount, lists with figures, and the rest as words.
import { useMemo } from 'preact/hooks';
import type { Json } from '../json/lossless';
import { language } from '../settings';
import { JsonView } from '../ui/json_view';
import { facts_of } from './decision';

export function Facts({ payload }: { payload: Json }) {
  const { amount, facts, lists, more } = useMemo(() => facts_of(payload, language.value), [payload, language.value]);
  return (
    <>
      {amount && (
        <div class="amount">
          {amount.text}
          <small>{amount.label}</small>
        </div>
      )}
      {lists.map((list) => (
        <section class="card" key={list.label} aria-label={list.label}>
          <div class="in">
            <ul class="items">
              {list.items.map((one, at) => (
                <li key={at}>
                  <span>
                    {one.title}
                    {one.note && <small>{one.note}</small>}
                  </span>
                  <span>{one.figure}</span>
                </li>
              ))}
            </ul>
          </div>
        </section>
      ))}
      {facts.length > 0 && (
        <section class="card">
          <div class="in">
            <dl class="facts">
              {facts.map((one) => (
                <div key={one.label} class="fact">
                  <dt>{one.label}</dt>
                  <dd>{one.text}</dd>
                </div>
              ))}
            </dl>
          </div>
        </section>
      )}
      {more.map(([label, one]) => (
        <details key={label}>
          <summary>{label}</summary>
          <JsonView value={one} name={label} label={label} />
        </details>
      ))}
    </>
  );
}
