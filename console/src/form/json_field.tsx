// A JSON value in an editor. The editor arrives when it is needed; until then a plain field does the same.
import { useEffect, useRef, useState } from 'preact/hooks';
import { parse, stringify, type Json } from '../json/lossless';
import { Icon } from '../ui/icon';
import { words } from '../words';

interface TextProps {
  id: string;
  label: string;
  text: string;
  error?: string;
  onText: (text: string) => void;
  language?: 'json' | 'text';
  tall?: boolean;
}

export function CodeField({ id, label, text, error, onText, language = 'json', tall }: TextProps) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(onText);
  latest.current = onText;
  const shown = useRef(text);
  const editor = useRef<{ set: (text: string) => void; destroy: () => void } | null>(null);
  const [ready, set_ready] = useState(false);
  useEffect(() => {
    let over = false;
    void import('./code_editor').then(({ open_editor }) => {
      if (over || !host.current) return;
      editor.current = open_editor(host.current, shown.current, label, language, (next) => {
        shown.current = next;
        latest.current(next);
      });
      set_ready(true);
    }, () => {});
    return () => {
      over = true;
      editor.current?.destroy();
      editor.current = null;
    };
  }, []);
  useEffect(() => {
    if (shown.current !== text) {
      shown.current = text;
      editor.current?.set(text);
    }
  }, [text]);
  return (
    <div class="f">
      <label for={ready ? undefined : id} id={`${id}-l`}>
        {label}
      </label>
      {!ready && <textarea class={tall ? 'input mono is-tall' : 'input mono'} id={id} value={text} spellcheck={false} aria-invalid={error ? 'true' : undefined} onInput={(event) => ((shown.current = event.currentTarget.value), onText(event.currentTarget.value))} />}
      <div ref={host} class={`code${tall ? ' is-tall' : ''}${ready ? '' : ' is-off'}`} data-invalid={error ? '' : undefined} />
      {error && (
        <span class="error" role="alert">
          <Icon name="suspended" />
          {error}
        </span>
      )}
    </div>
  );
}

export function JsonField({ id, label, value, error, onChange }: { id: string; label: string; value: Json | undefined; error?: string; onChange: (value: Json | undefined) => void }) {
  const [text, set_text] = useState(value === undefined ? '' : stringify(value, 2));
  const [wrong, set_wrong] = useState('');
  const change = (next: string) => {
    set_text(next);
    if (next.trim() === '') {
      set_wrong('');
      onChange(undefined);
      return;
    }
    try {
      onChange(parse(next));
      set_wrong('');
    } catch (problem) {
      set_wrong(words.value.form.no_json((problem as Error).message));
    }
  };
  return <CodeField id={id} label={label} text={text} error={wrong || error} onText={change} />;
}
