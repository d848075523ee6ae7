import { describe, expect, test } from 'vitest';
import { last_rows } from '../src/last_rows';

// A list of numbered rows, as the server gives it: oldest first, the cursor is the last number of the page.
const list = (numbers: number[]) => {
  const asked: number[] = [];
  const read = async (after: number, limit: number) => {
    asked.push(after);
    const following = numbers.filter((one) => one > after);
    const items = following.slice(0, limit);
    return { items, next_cursor: following.length > limit ? String(items.at(-1)) : null };
  };
  return { asked, read };
};
const upto = (end: number, begin = 1) => Array.from({ length: end - begin + 1 }, (_, at) => begin + at);

describe('the last rows of a list', () => {
  test.each([0, 1, 9, 10, 11, 25, 203, 1000, 4097])('of %i rows', async (end) => {
    const { read } = list(upto(end));
    expect(await last_rows<number>(10, (one) => one)(read)).toEqual(upto(end).slice(-10));
  });

  test('rows that were removed at the beginning, and gaps', async () => {
    const { read } = list([...upto(1200, 900), 1500]);
    const found = await last_rows<number>(10, (one) => one)(read);
    expect(found.at(-1)).toBe(1500);
  });

  test('the end is remembered', async () => {
    const numbers = upto(500);
    const { asked, read } = list(numbers);
    const last = last_rows<number>(10, (one) => one);
    await last(read);
    numbers.push(501);
    asked.length = 0;
    expect((await last(read)).at(-1)).toBe(501);
    expect(asked.length).toBeLessThan(20);
    asked.length = 0;
    await last(read);
    expect(asked.length).toBe(1);
  });

  test('another store begins again', async () => {
    const last = last_rows<number>(10, (one) => one);
    await last(list(upto(500)).read);
    expect(await last(list(upto(3)).read)).toEqual([1, 2, 3]);
  });
});
