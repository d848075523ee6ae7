import { describe, expect, it } from 'vitest';
import { faults, filled, first_value, kind_of, label_of, names_of, options_of, with_value, type Schema } from '../src/form/model';
import { ExactNumber, stringify } from '../src/json/lossless';
import { en } from '../src/words/en';

const schema: Schema = {
  type: 'object', required: ['decision', 'rate'],
  properties: {
    comment: { type: 'string' }, decision: { oneOf: [{ const: 'approve', title: 'Approve' }, { const: 'reject' }] }, rate: { type: 'number', minimum: 3.5, maximum: 9.9 }, items: { type: 'array', items: { $ref: '#/$defs/item' } }, urgent: { type: 'boolean', default: false },
  },
  $defs: { item: { type: 'object', required: ['what'], properties: { what: { type: 'string', minLength: 1 } } } },
  if: { properties: { decision: { const: 'reject' } }, required: ['decision'] }, then: { required: ['comment'] },
};
const wrong = (value: never) => Object.fromEntries(faults(schema, value, en.form));

describe('schema form', () => {
  it('chooses fields', () => {
    expect(kind_of({ type: 'string' }, 'name')).toBe('text');
    expect(kind_of({ type: 'string' }, 'comment')).toBe('lines');
    expect(kind_of({ type: 'string', format: 'date' })).toBe('date');
    expect(kind_of({ type: ['number', 'null'] })).toBe('number');
    expect(kind_of({ enum: ['a', 'b'] })).toBe('choice');
    expect(kind_of({ type: 'object' })).toBe('json');
    expect(kind_of({})).toBe('json');
    expect(options_of(schema.properties as never)).toBe(null);
  });
  it('puts required fields first, in their order', () => {
    expect(names_of(schema)).toEqual(['decision', 'rate', 'comment', 'items', 'urgent']);
    expect(label_of('applicationNo', {})).toBe('Application no');
  });
  it('begins with defaults', () => {
    expect(first_value(schema, schema)).toEqual({ urgent: false });
  });
  it('tells what is wrong, by field', () => {
    expect(wrong({} as never)).toEqual({ '/decision': en.form.required, '/rate': en.form.required });
    expect(wrong({ decision: 'approve', rate: new ExactNumber('12') } as never)).toEqual({ '/rate': en.form.most('9.9') });
    expect(wrong({ decision: 'approve', rate: new ExactNumber('5,9') } as never)).toEqual({ '/rate': en.form.number });
    expect(wrong({ decision: 'approve', rate: new ExactNumber('5.90') } as never)).toEqual({});
    expect(wrong({ decision: 'reject', rate: 5 } as never)).toEqual({ '/comment': en.form.required });
    expect(wrong({ decision: 'approve', rate: 5, items: [{ what: 'x' }, {}] } as never)).toEqual({ '/items/1/what': en.form.required });
  });
  it('changes and empties values without losing digits', () => {
    const value = with_value(with_value({}, ['items', 0, 'what'], 'Train'), ['rate'], new ExactNumber('9007199254740993'));
    expect(stringify(value)).toBe('{"items":[{"what":"Train"}],"rate":9007199254740993}');
    expect(filled({ a: '', b: new ExactNumber(' '), c: { d: undefined as never }, e: 0 })).toEqual({ c: {}, e: 0 });
    expect(with_value({ items: [1, 2] }, ['items', 0], undefined)).toEqual({ items: [2] });
  });
});
