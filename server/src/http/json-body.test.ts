import { expect, test } from 'vitest';
import { parseJsonBody } from './json-body.ts';

const parse = (text: string, isCanonicalWanted: boolean) =>
  parseJsonBody(Buffer.from(text), { isCanonicalWanted });

/** A body of this many levels, each an object or a list, around what it holds. */
const nested = (levels: number, held: string, kind: 'object' | 'list') =>
  kind === 'object'
    ? `${'{"a":'.repeat(levels)}${held}${'}'.repeat(levels)}`
    : `{"a":${'['.repeat(levels - 1)}${held}${']'.repeat(levels - 1)}}`;

test.each([true, false])('a body has 64 levels at most (with a key: %s)', (hasKey) => {
  for (const kind of ['object', 'list'] as const) {
    expect(() => parse(nested(64, '1', kind), hasKey)).not.toThrow();
    expect(() => parse(nested(65, '1', kind), hasKey)).toThrow('deeper than 64 levels');
  }
});

test.each([true, false])(
  'a number that is too long is found on the deepest level (with a key: %s)',
  (hasKey) => {
    expect(() => parse(nested(64, '9007199254740993', 'object'), hasKey)).toThrow(
      'is too large to be stored as an exact number',
    );
  },
);

test('the canonical form has sorted names on every level, and is built for requests with a key only', () => {
  const text = '{ "b": [{"d": null, "c": true}, 1.50], "a": "\\u00e9" }';
  expect(parse(text, true)).toEqual({
    value: { b: [{ d: null, c: true }, 1.5], a: 'é' },
    canonical: '{"a":"é","b":[{"c":true,"d":null},1.5]}',
  });
  expect(parse(text, false).canonical).toBe('');
  expect(parse('', true)).toEqual({ value: {}, canonical: '{}' });
});

test.each([true, false])(
  'a name that cannot be stored is refused, naming where it stands (with a key: %s)',
  (hasKey) => {
    for (const [text, param] of [
      ['{"a":[{"\\u0000":1}]}', 'a[0]'],
      ['{"\\ud800":1}', undefined],
      ['{"a":{"b":["\\u0000"]}}', 'a.b[0]'],
    ] as const)
      expect(() => parse(text, hasKey), text).toThrow(
        expect.objectContaining({ code: 'parameter_invalid', param }),
      );
  },
);
