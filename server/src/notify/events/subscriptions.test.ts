import fc from 'fast-check';
import { expect, test } from 'vitest';
import { distinctTypes } from './subscriptions.ts';

test('a family removes what it contains: its types and the families in it', () => {
  expect(distinctTypes(['a.b.*', 'a.b.c', 'a.*', 'a', 'b.a', 'b.a', 'a.*', 'ab.c'])).toEqual([
    'a',
    'a.*',
    'ab.c',
    'b.a',
  ]);
});

test('the same types match, and none twice', () => {
  const part = fc.constantFrom('a', 'b', 'ab');
  const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
  const type = fc.tuple(name, fc.constantFrom('', '.*')).map((parts) => parts.join(''));
  const matches = (types: string[], one: string) =>
    types.filter((type) => type === one || (type.endsWith('.*') && one.startsWith(type.slice(0, -1))));
  fc.assert(
    fc.property(fc.array(type, { maxLength: 12 }), name, (types, one) => {
      const found = matches(distinctTypes(types), one).length;
      expect(found).toBe(Math.min(1, matches(types, one).length));
    }),
  );
});
