import { expect, test } from 'vitest';
import { accountOf } from './account-of.ts';
import { allPages } from './all-pages.ts';
import { CommandError } from './command-error.ts';
import { createKeyCommand } from './keys.ts';
import type { Tools } from './with-database.ts';

const toolsWith = (db: object) => ({ db, clock: { nowMs: () => 1_800_000_000_000 } }) as unknown as Tools;

test('a list on the command line has all pages, in their order', async () => {
  const asked: (string | undefined)[] = [];
  const items = await allPages(async ({ starting_after: after }) => {
    asked.push(after);
    const place = Number(after ?? 0);
    return { data: [place * 2, place * 2 + 1], ...(place < 2 && { next_cursor: String(place + 1) }) };
  });
  expect([items, asked]).toEqual([
    [0, 1, 2, 3, 4, 5],
    [undefined, '1', '2'],
  ]);
});

test('a command without --account is for the only account that is open', async () => {
  const [open, closed] = [
    { id: 'a', closed_at: null },
    { id: 'b', closed_at: new Date() },
  ];
  const chosen = (rows: object[]) => accountOf(toolsWith({ query: async () => rows }), undefined);
  expect([await chosen([open, closed]), await chosen([closed, open])]).toEqual(['a', 'a']);
  await expect(chosen([open, { ...open, id: 'c' }])).rejects.toThrow('there are several accounts');
  await expect(chosen([closed])).rejects.toThrow('there is no account yet');
});

test.each([
  [{ scopes: 'operator', account: 'acct_1' }, /belongs to no account/],
  [{ scopes: 'operator,read' }, /cannot be combined/],
  [{ scopes: 'operator,all' }, /"all" is not a scope/],
  [{ scopes: 'operator', expiresIn: '0s' }, /takes a duration/],
  [{ scopes: 'operator', expiresIn: 'soon' }, /takes a duration/],
  [{ scopes: 'operator', allowedCidrs: '203.0.113.0/33' }, /takes up to/],
])('a key with %j is not created', async (options, message) => {
  const transaction = async () => {
    throw new Error('it was created');
  };
  const creating = createKeyCommand(toolsWith({ transaction }), { format: 'json', ...options } as never);
  await expect(creating).rejects.toThrow(message);
  await expect(creating).rejects.toBeInstanceOf(CommandError);
});
