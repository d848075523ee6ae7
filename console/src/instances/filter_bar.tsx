// The filter: chips for what is set, a field for what is added, completion while typing.
import { useEffect, useRef, useState } from 'preact/hooks';
import { names } from '../definitions';
import { complete, read_filter, without_part, write_filter } from '../filter_text';
import { Icon } from '../ui/icon';
import { words } from '../words';

export function FilterBar({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const t = words.value.filter;
  const [draft, set_draft] = useState('');
  const [at, set_at] = useState(-1);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => set_draft(''), [text]);
  const parts = read_filter(text);
  const offers = complete(draft, names()).slice(0, 8);
  const add = (more: string) => {
    const added = read_filter(more);
    if (added.length === 0) return;
    const replaced = new Set(added.filter((one) => one.name && !one.name.startsWith('part.')).map((one) => one.name));
    onChange(write_filter([...parts.filter((one) => !replaced.has(one.name)), ...added]));
    set_draft('');
    set_at(-1);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      const chosen = offers[at];
      if (chosen && !/[:.]$/.test(chosen)) add(chosen);
      else if (chosen) {
        set_draft(chosen);
        set_at(-1);
      } else add(draft);
    } else if (event.key === 'Tab' && offers[0] && draft) {
      event.preventDefault();
      set_draft(offers[Math.max(0, at)]!);
      set_at(-1);
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (offers.length === 0) return;
      event.preventDefault();
      set_at((at + (event.key === 'ArrowDown' ? 1 : offers.length)) % offers.length);
    } else if (event.key === 'Backspace' && draft === '' && parts.length > 0) onChange(without_part(text, parts.length - 1));
  };
  return (
    <div class="filter" role="search">
      <Icon name="filter" />
      {parts.map((one, index) => (
        <span class="chip" key={index}>
          {one.name && <b>{t.names[one.name as keyof typeof t.names] ?? one.name}</b>} {one.value}
          <button type="button" aria-label={t.remove(one.name || one.value)} onClick={() => onChange(without_part(text, index))}>
            <Icon name="x" size={12} />
          </button>
        </span>
      ))}
      <input
        ref={field}
        id="filter"
        class="field"
        role="combobox"
        aria-label={t.label}
        aria-expanded={offers.length > 0}
        aria-controls="filter-offers"
        aria-autocomplete="list"
        aria-activedescendant={at >= 0 ? `offer-${at}` : undefined}
        placeholder={parts.length === 0 ? t.placeholder : t.add}
        autocomplete="off"
        spellcheck={false}
        value={draft}
        onInput={(event) => (set_draft(event.currentTarget.value), set_at(-1))}
        onKeyDown={keys}
        onBlur={() => setTimeout(() => set_at(-1), 150)}
      />
      <kbd aria-hidden="true">/</kbd>
      <div id="filter-offers" role="listbox" aria-label={t.offers} class={offers.length ? 'offers' : 'offers is-off'}>
        {offers.map((one, index) => (
          <div key={one} id={`offer-${index}`} role="option" aria-selected={index === at} onMouseDown={(event) => (event.preventDefault(), /[:.]$/.test(one) ? (set_draft(one), field.current?.focus()) : add(one))}>
            {one}
          </div>
        ))}
      </div>
    </div>
  );
}
