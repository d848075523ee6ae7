// The fields of a JSON Schema.
import type { ComponentChildren } from 'preact';
import { ExactNumber, is_object, stringify, type Json, type JsonObject } from '../json/lossless';
import { Icon } from '../ui/icon';
import { words } from '../words';
import { JsonField } from './json_field';
import { first_value, kind_of, label_of, names_of, options_of, pointer, required_of, resolve, with_value, type Schema } from './model';

interface FormProps {
  schema: Schema;
  value: Json | undefined;
  errors: Map<string, string>;
  onChange: (value: Json | undefined) => void;
  id: string;
}

export function SchemaForm({ schema, value, errors, onChange, id }: FormProps) {
  const own = resolve(schema, schema);
  if (kind_of(own) !== 'object') return <JsonField id={id} label={words.value.form.json} value={value} error={errors.get('')} onChange={onChange} />;
  return <Members schema={own} root={schema} value={value} path={[]} errors={errors} id={id} change={(path, next) => onChange(with_value(value, path, next))} />;
}

interface Part {
  schema: Schema;
  root: Schema;
  value: Json | undefined;
  path: (string | number)[];
  errors: Map<string, string>;
  id: string;
  change: (path: (string | number)[], value: Json | undefined) => void;
}

function Members({ schema, root, value, path, errors, id, change }: Part) {
  return (
    <>
      {names_of(schema).map((name) => (
        <Field
          key={name}
          name={name}
          required={required_of(schema).includes(name)}
          schema={resolve((schema.properties as JsonObject)[name], root)}
          root={root}
          value={is_object(value) ? value[name] : undefined}
          path={[...path, name]}
          errors={errors}
          id={id}
          change={change}
        />
      ))}
    </>
  );
}

function Field(props: Part & { name: string; required: boolean }) {
  const { name, required, schema, root, value, path, errors, id, change } = props;
  const t = words.value.form;
  const place = pointer(path);
  const own_id = id + place.replaceAll('/', '-');
  const error = errors.get(place);
  const label = label_of(name, schema);
  const help = typeof schema.description === 'string' ? schema.description : limits_of(schema);
  const described = [error && `${own_id}-e`, help && `${own_id}-h`].filter(Boolean).join(' ') || undefined;
  const set = (next: Json | undefined) => change(path, next);
  const kind = kind_of(schema, name);
  const common = { id: own_id, 'aria-invalid': error ? ('true' as const) : undefined, 'aria-describedby': described, 'aria-required': required || undefined, readOnly: schema.readOnly === true };
  const title = (
    <>
      {label} {!required && <span class="opt">{t.optional}</span>}
    </>
  );
  const below = (
    <>
      {help && (
        <span class="help" id={`${own_id}-h`}>
          {help}
        </span>
      )}
      {error && (
        <span class="error" id={`${own_id}-e`}>
          <Icon name="suspended" />
          {error}
        </span>
      )}
    </>
  );

  if (kind === 'object') {
    return (
      <fieldset class="f is-group">
        <legend>{title}</legend>
        {below}
        <div class="form">
          <Members schema={schema} root={root} value={value} path={path} errors={errors} id={id} change={change} />
        </div>
      </fieldset>
    );
  }
  if (kind === 'list') return <ListField {...props} title={title} below={below} />;
  if (kind === 'json') return <JsonField id={own_id} label={label} value={value} error={error} onChange={set} />;
  if (kind === 'choice' || kind === 'boolean') {
    const options = kind === 'boolean' ? [{ value: true, title: t.yes, text: undefined }, { value: false, title: t.no, text: undefined }] : options_of(schema)!;
    if (kind === 'boolean' && !required) {
      return (
        <div class="f">
          <label class="row" for={own_id}>
            <input {...common} class="check" type="checkbox" checked={value === true} onChange={(event) => set(event.currentTarget.checked)} />
            {label}
          </label>
          {below}
        </div>
      );
    }
    if (options.length > 4) {
      return (
        <div class="f">
          <label for={own_id}>{title}</label>
          <select {...common} class="input" value={value === undefined ? '' : stringify(value)} onChange={(event) => set(options.find((one) => stringify(one.value) === event.currentTarget.value)?.value)}>
            <option value="">{t.choose_one}</option>
            {options.map((one) => (
              <option key={stringify(one.value)} value={stringify(one.value)}>
                {one.title}
              </option>
            ))}
          </select>
          {below}
        </div>
      );
    }
    return (
      <fieldset class="f" aria-describedby={described}>
        <legend>{title}</legend>
        <div class={options.length === 2 ? 'choice is-two' : 'choice'}>
          {options.map((one, at) => (
            <label key={stringify(one.value)}>
              <input id={at === 0 ? own_id : undefined} class="radio" type="radio" name={own_id} checked={value !== undefined && stringify(value) === stringify(one.value)} onChange={() => set(one.value)} />
              <span>
                <b>{one.title}</b>
                {one.text && <small>{one.text}</small>}
              </span>
            </label>
          ))}
        </div>
        {below}
      </fieldset>
    );
  }
  if (kind === 'lines') {
    return (
      <div class="f">
        <label for={own_id}>{title}</label>
        <textarea {...common} class="input" value={typeof value === 'string' ? value : ''} onInput={(event) => set(event.currentTarget.value || undefined)} />
        {below}
      </div>
    );
  }
  const number = kind === 'number';
  const unit = is_object(schema['x-ui']) && typeof schema['x-ui'].unit === 'string' ? schema['x-ui'].unit : '';
  const type = ({ date: 'date', datetime: 'datetime-local', email: 'email', uri: 'url' } as const)[kind as 'date'] ?? 'text';
  const shown = value === undefined || value === null ? '' : kind === 'datetime' && typeof value === 'string' ? local_text(value) : value instanceof ExactNumber ? value.text : String(value);
  const input = (
    <input
      {...common}
      class={number || kind === 'date' || kind === 'datetime' ? 'input is-short' : 'input'}
      type={type}
      inputMode={number ? 'decimal' : undefined}
      value={shown}
      autocomplete="off"
      onInput={(event) => {
        const text = event.currentTarget.value;
        if (text === '') set(undefined);
        else if (number) set(new ExactNumber(text.trim()));
        else set(kind === 'datetime' ? new Date(text).toISOString() : text);
      }}
    />
  );
  return (
    <div class="f">
      <label for={own_id}>{title}</label>
      {unit ? (
        <div class="unit">
          {input}
          <span>{unit}</span>
        </div>
      ) : (
        input
      )}
      {below}
    </div>
  );
}

function ListField({ schema, root, value, path, errors, id, change, title, below, name }: Part & { title: ComponentChildren; below: ComponentChildren; name: string; required: boolean }) {
  const t = words.value.form;
  const item = resolve(schema.items, root);
  const list = Array.isArray(value) ? value : [];
  return (
    <fieldset class="f is-group">
      <legend>{title}</legend>
      {below}
      {list.map((one, at) => (
        <div class="listitem" key={at}>
          <div class="form grow">
            {kind_of(item) === 'object' ? (
              <Members schema={item} root={root} value={one} path={[...path, at]} errors={errors} id={id} change={change} />
            ) : (
              <Field name={`${name} ${at + 1}`} required schema={item} root={root} value={one === null ? undefined : one} path={[...path, at]} errors={errors} id={id} change={(where, next) => change(where, next ?? null)} />
            )}
          </div>
          <button class="btn is-s is-icon is-quiet" type="button" aria-label={t.remove(at + 1)} onClick={() => change([...path, at], undefined)}>
            <Icon name="x" size={12} />
          </button>
        </div>
      ))}
      <button class="btn is-s" type="button" onClick={() => change([...path, list.length], first_value(item, root) ?? null)}>
        <Icon name="plus" size={12} />
        {t.add}
      </button>
    </fieldset>
  );
}

const local_text = (iso: string): string => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
};

function limits_of(schema: Schema): string {
  const t = words.value.form;
  const [low, high] = [schema.minimum, schema.maximum];
  if (low !== undefined && high !== undefined) return t.between(String(low), String(high));
  return '';
}
