import { expect, test } from 'vitest';
import { nearest } from './nearest.ts';

test.each([
  ['esim', 'esims'],
  ['crate', 'create'],
  ['lits', 'list'],
  ['esim.provisonned', 'esim.provisioned'],
  ['webhooks', null],
])('of the known words, %s means %s', (word, meant) => {
  expect(nearest(word, ['update', 'create', 'list', 'esims', 'esim.provisioned'])).toBe(meant);
});
