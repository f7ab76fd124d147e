import { maxMetadataEntries } from '@simplane/contract';
import { expect, test } from 'vitest';
import { changedNames, mergeMetadata } from './merge.ts';

test('entries are merged by name; null and an empty value remove one, and what is not named stays', () => {
  const merged = mergeMetadata(
    { kept: 'a', empty: '', changed: 'b', gone: 'c' },
    { changed: 'd', gone: '', no: null },
  );
  expect(merged).toEqual({ kept: 'a', empty: '', changed: 'd' });
  expect(changedNames({ kept: 'a', changed: 'b', gone: 'c' }, { kept: 'a', changed: 'd', new: 'e' })).toEqual(
    [...['changed', 'gone', 'new']],
  );
});

test('as many entries as are allowed may be there after the change, not one more', () => {
  const entries = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 'x']));
  const full = entries(maxMetadataEntries);
  expect(mergeMetadata(full, { n0: null, another: 'y' })).toHaveProperty('another', 'y');
  expect(() => mergeMetadata(full, { another: 'y' })).toThrow(`there would be ${maxMetadataEntries + 1}`);
});
