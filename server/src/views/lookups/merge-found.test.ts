import { OperatorSearchResult } from '@simplane/contract';
import { describe, expect, test } from 'vitest';
import { mergeFound } from './merge-found.ts';

const [example] = (OperatorSearchResult as unknown as { examples: [OperatorSearchResult] }).examples;

const found = (id: string, changes: Partial<OperatorSearchResult> = {}): OperatorSearchResult => ({
  ...example,
  id,
  ...changes,
});

describe('what several cells found', () => {
  test('has each object once, from the cell that has it', () => {
    const left = found('1', { cell: 'eu', title: 'what was left behind' });
    const there = found('1', { cell: 'eu', title: 'as it is' });
    const old = { cell: null, data: [left] };
    const now = { cell: 'eu', data: [there] };
    expect(mergeFound([old, now], 20)).toEqual([there]);
    expect(mergeFound([now, old], 20)).toEqual([there]);
    expect(mergeFound([old], 20)).toEqual([left]);
  });

  test('has the product of each cell', () => {
    const product = (cell: string | null) => found('prod', { type: 'product', account_id: null, cell });
    const all = [null, 'eu'].map((cell) => ({ cell, data: [product(cell)] }));
    expect(mergeFound(all, 20)).toHaveLength(2);
  });

  test('is in the order of one cell: by type, then the newest first', () => {
    const [here, there] = [
      [
        found('prod', { type: 'product', created: 9 }),
        found('a', { created: 1 }),
        found('exec', { type: 'execution', created: 9 }),
        found('acct', { type: 'account', created: 9 }),
      ],
      [found('b', { created: 2 }), found('c', { created: 1 }), found('evt', { type: 'event', created: 1 })],
    ];
    const merged = mergeFound(
      [
        { cell: null, data: here ?? [] },
        { cell: 'eu', data: there ?? [] },
      ],
      20,
    );
    expect(merged.map(({ id }) => id)).toEqual(['b', 'c', 'a', 'exec', 'evt', 'acct', 'prod']);
  });

  test('has no more than was asked for', () => {
    expect(mergeFound([{ cell: null, data: [found('a'), found('b')] }], 1)).toHaveLength(1);
  });
});
