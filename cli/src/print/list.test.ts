import type { List } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { positiveInteger, printList, readPairs } from './list.ts';
import { createOutput } from './output.ts';

const columns = [{ title: 'N', value: (n: number) => String(n) }];

/** What the command says of a list with so many items, and which pages it asks for. */
async function printed(total: number, options: { limit: number; all?: boolean }, endsEmpty = false) {
  const [asked, lines, notes]: [number[], string[], string[]] = [[], [], []];
  let given = 0;
  const out = {
    ...createOutput(false),
    ...{ line: (text: string) => void lines.push(text), note: (text: string) => void notes.push(text) },
  };
  const read = async ({ limit }: { limit: number }) => {
    asked.push(limit);
    const data = Array.from({ length: Math.min(limit, total - given) }, () => ++given);
    const has_more = given < total || (endsEmpty && data.length > 0);
    return { object: 'list', data, has_more, ...(has_more && { next_cursor: 'c' }) };
  };
  await printList(out, options, (query) => read(query) as unknown as List<number>, {
    columns,
    empty: 'None.',
  });
  return { asked, lines: lines.length, notes: notes.join() };
}

test('a list is read in pages that the service gives, up to what was asked for, and says whether that is all', async () => {
  expect(await printed(500, { limit: 250 })).toMatchObject({ asked: [100, 100, 50], lines: 251 });
  expect((await printed(500, { limit: 250 })).notes).toContain('--all shows them');
  expect(await printed(150, { limit: 20, all: true })).toEqual({ asked: [100, 100], lines: 151, notes: '' });
  expect(await printed(20, { limit: 20 })).toMatchObject({ lines: 21, notes: '' });
});

test('only a list without items is told as empty, not its last page', async () => {
  expect(await printed(0, { limit: 20 })).toEqual({ asked: [20], lines: 0, notes: 'None.' });
  expect(await printed(100, { limit: 20, all: true }, true)).toMatchObject({ asked: [100, 100], notes: '' });
});

test('a pair is a name and what follows the first `=`', () => {
  expect(readPairs('--metadata', ['a=b=c', 'b='])).toEqual({ a: 'b=c', b: '' });
  for (const pair of ['=b', 'b', ''])
    expect(() => readPairs('--metadata', [pair])).toThrow('--metadata must be name=value');
});

test('a limit is a whole number of at least 1', () => {
  expect(['1', '20', '999999999'].map(positiveInteger)).toEqual([1, 20, 999_999_999]);
  for (const text of ['0', '007', '-1', '1e3', '1.5', ''])
    expect(() => positiveInteger(text)).toThrow('Must be a whole number');
});
