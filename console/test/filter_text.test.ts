import { describe, expect, it } from 'vitest';
import { complete, read_filter, with_part, without_part, write_filter } from '../src/filter_text';

describe('filter text', () => {
  it('reads names, quotes and free words as the server does', () => {
    expect(read_filter('status:suspended definition:loan.approval part.customer:C1 "free words" x')).toEqual([
      { name: 'status', value: 'suspended' }, { name: 'definition', value: 'loan.approval' }, { name: 'part.customer', value: 'C1' }, { name: '', value: 'free words' }, { name: '', value: 'x' },
    ]);
    expect(read_filter('ref:"L 1" 12:30')).toEqual([{ name: 'ref', value: 'L 1' }, { name: '', value: '12:30' }]);
  });
  it('writes what it read', () => {
    for (const text of ['status:waiting', 'ref:"a b" x', '"a:b"', 'from:2026-01-01T00:00:00Z']) expect(write_filter(read_filter(text))).toBe(text);
  });
  it('adds, replaces and removes parts', () => {
    expect(with_part('status:waiting x', 'status', 'failed')).toBe('x status:failed');
    expect(without_part('status:waiting ref:A', 0)).toBe('ref:A');
  });
  it('completes names and values', () => {
    expect(complete('st', [])).toEqual(['status:', 'step:']);
    expect(complete('ref:A status:sus', [])).toEqual(['ref:A status:suspended']);
    expect(complete('definition:lo', ['loan.approval', 'hello'])).toEqual(['definition:loan.approval']);
    expect(complete('', [])).toEqual([]);
  });
  it('offers what the server knows', () => {
    expect(complete('status:re', [])).toEqual(['status:retrying']);
    expect(complete('err', [])).toEqual(['error:']);
  });
});
