import { describe, expect, it } from 'vitest';
import { decision_of, facts_of, grouped, initials, person } from '../src/approve/decision';
import { parse } from '../src/json/lossless';
import type { Schema } from '../src/form/model';

const words = { yes: 'Yes', no: 'No', approve: 'Approve', decline: 'Decline' };

describe('the two answers', () => {
  it('are made from a yes or no', () => {
    const schema = { type: 'object', required: ['approved'], properties: { approved: { type: 'boolean' }, comment: { type: 'string' } } } as Schema;
    const found = decision_of(schema, words)!;
    expect(found.choices.map((one) => one.title)).toEqual(['Decline', 'Approve']);
    expect(Object.keys(found.rest.properties as object)).toEqual(['comment']);
    expect(found.rest.required).toEqual([]);
  });
  it('are made from a choice of two, with the refusal first', () => {
    const schema = { type: 'object', required: ['decision'], properties: { decision: { enum: ['approve', 'reject'] } } } as Schema;
    expect(decision_of(schema, words)!.choices.map((one) => [one.value, one.yes])).toEqual([['reject', false], ['approve', true]]);
  });
  it('are left out if the form asks for something else', () => {
    expect(decision_of({ type: 'object', required: ['a', 'b'], properties: { a: { type: 'boolean' }, b: { type: 'boolean' } } } as Schema, words)).toBe(null);
    expect(decision_of({ type: 'object', required: ['decision'], properties: { decision: { enum: ['a', 'b', 'c'] } } } as Schema, words)).toBe(null);
  });
});

describe('facts', () => {
  it('keep the digits of numbers', () => {
    const { amount, facts } = facts_of(parse('{"amount":9007199254740993.10,"currency":"EUR","points":9007199254740993}'), 'en');
    expect(amount?.text).toBe('€9,007,199,254,740,993.10');
    expect(facts).toEqual([{ label: 'Points', text: '9,007,199,254,740,993' }]);
    expect(grouped('1234567.5', 'de')).toBe('1.234.567,5');
    expect(grouped('2026-01-01', 'en')).toBe('2026-01-01');
  });
  it('show lists as lines with a figure', () => {
    const { lists } = facts_of(parse('{"currency":"EUR","items":[{"name":"USB-C dock","quantity":12,"amount":1800.00,"each":"150.00"}]}'), 'en');
    expect(lists[0]!.items).toEqual([{ title: '12 × USB-C dock', note: 'Each: 150.00', figure: '€1,800.00' }]);
  });
  it('say names', () => {
    expect(initials('nora.lindqvist')).toBe('NL');
    expect(person('nora.lindqvist')).toBe('Nora Lindqvist');
    expect(person('billing')).toBe('billing');
    expect(initials('jon@example.com')).toBe('J');
  });
});
