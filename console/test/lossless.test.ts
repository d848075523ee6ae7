import { describe, expect, it } from 'vitest';
import { ExactNumber, parse, plain, same, stringify } from '../src/json/lossless';
import { diff_lines, lines_of } from '../src/json/lines';
import { patch_of } from '../src/json/merge_patch';

describe('lossless JSON', () => {
  it('keeps the text of numbers that JavaScript would change', () => {
    for (const text of ['9007199254740993', '[1.50,1e400,-0,0.1]', '{"a":{"b":[9007199254740993,12345678901234567890123.45]}}', '1E5']) expect(stringify(parse(text))).toBe(text);
  });
  it('gives plain numbers where that is exact', () => {
    expect(parse('[0,1,-7,1.5,9007199254740991]')).toEqual([0, 1, -7, 1.5, 9007199254740991]);
    expect(parse('{"n":9007199254740993}')).toEqual({ n: new ExactNumber('9007199254740993') });
  });
  it('agrees with JSON.parse where no number is at stake', () => {
    for (const text of ['{"a":"x\\"y\\u00e9","b":[true,false,null,[]],"c":{}}', ' [ 1 , 2.5 ] ', '"a.5"', '{"__proto__":1.5}']) expect(plain(parse(text))).toEqual(JSON.parse(text));
  });
  it('refuses what is not JSON', () => {
    for (const text of ['', '{', '[1.5,]', '{"a" 1.5}', '01.5', '1.5 2', '"\n1.5', '[1.5', '+1.5', '.5', 'NaN']) expect(() => parse(text)).toThrow(SyntaxError);
  });
  it('is not fooled by digits in strings', () => {
    expect(parse('{"a":"12345678901234567890","b":1}')).toEqual({ a: '12345678901234567890', b: 1 });
  });
  it('writes indented text that it reads back', () => {
    const value = parse('{"a":[1.50,{"b":null}],"c":{}}');
    expect(same(parse(stringify(value, 2)), value)).toBe(true);
  });
});

describe('lines and differences', () => {
  it('shows a tree', () => {
    expect(lines_of(parse('{"a":1,"b":{"c":"x"}}')).map((line) => `${line.depth} ${line.path} ${line.text}`)).toEqual(['0 a 1', '0 b ', '1 b.c "x"']);
  });
  it('marks what was added and removed', () => {
    const lines = diff_lines(parse('{"stage":"scoring","n":1,"gone":true}'), parse('{"stage":"review","n":1,"score":{"value":640}}'));
    expect(lines.map((line) => `${line.mark ?? '='} ${line.path} ${line.text}`)).toEqual(['del gone true', 'del stage "scoring"', 'add stage "review"', '= n 1', 'add score ', 'add score.value 640']);
  });
  it('makes the patch between two objects', () => {
    expect(patch_of(parse('{"a":1,"b":{"c":1,"d":2},"e":3}') as never, parse('{"a":1,"b":{"c":9007199254740993,"d":2},"f":[1]}') as never)).toEqual({ e: null, b: { c: new ExactNumber('9007199254740993') }, f: [1] });
  });
});
