import type { Simplane } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { explainRefusal } from '../src/explain-refusal.ts';
import { InvalidArgument } from '../src/invalid-argument.ts';

const simplane = {} as Simplane;

test('a bug is told without its details', async () => {
  const text = await explainRefusal(new TypeError('Cannot read secrets of undefined'), simplane);
  expect(text).toBe('Failed: Unexpected error in the MCP server.');
});

test('a refusal repeats only the beginning of an argument', async () => {
  const text = await explainRefusal(new InvalidArgument('p'.repeat(1_000), 'm'.repeat(1_000)), simplane);
  expect(text.match(/p{50,}|m{50,}/g)?.map(({ length }) => length)).toEqual([300, 100]);
});
