import { maxAllowedCidrs } from '@simplane/contract';
import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { accountOf } from './account-of.ts';
import { createAccountCommand } from './accounts.ts';
import { allPages } from './all-pages.ts';
import { CommandError } from './command-error.ts';
import { defineAccounts } from './define-accounts.ts';
import { createKeyCommand, rollKeyCommand } from './keys.ts';
import { printJson, table } from './print.ts';
import type { Tools } from './with-database.ts';

const toolsWith = (db: object) => ({ db, clock: { nowMs: () => 1_800_000_000_000 } }) as unknown as Tools;

/** A database that a refused command does not reach. */
const notReached = toolsWith({
  transaction: async () => {
    throw new Error('it was done');
  },
});

function networks(count: number): string {
  return Array.from({ length: count }, (_, n) => `10.${Math.floor(n / 256)}.${n % 256}.0/24`).join(',');
}

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
  [{ scopes: 'operator', allowedCidrs: networks(maxAllowedCidrs + 1) }, /takes up to/],
])('a key with %j is not created', async (options, message) => {
  const creating = createKeyCommand(notReached, { format: 'json', ...options } as never);
  await expect(creating).rejects.toThrow(message);
  await expect(creating).rejects.toBeInstanceOf(CommandError);
});

test('a key may have the most networks, and be rolled for the longest overlap', async () => {
  const most = { json: true, scopes: 'operator', allowedCidrs: networks(maxAllowedCidrs) };
  await expect(createKeyCommand(notReached, most)).rejects.toThrow('it was done');
  await expect(rollKeyCommand(notReached, 'key_1', { json: true, expiresIn: '7d' })).rejects.toThrow(
    'it was done',
  );
});

test.each(['8d', '604801s', 'soon'])(
  'a key that is rolled does not go on working for %s',
  async (expiresIn) => {
    const rolling = rollKeyCommand(notReached, 'key_1', { json: true, expiresIn });
    await expect(rolling).rejects.toThrow('a duration of at most 7d');
  },
);

test.each([
  [{ requestsPerSecond: '0' }, '--requests-per-second takes a whole number from 1, or none; got "0"'],
  [{ requestsPerSecond: '1e3' }, 'got "1e3"'],
  [{ maxOpenExecutions: '-1' }, '--max-open-executions takes a whole number from 0'],
  [{ maxWebhookEndpoints: '9999999999' }, '--max-webhook-endpoints takes a whole number from 0'],
])('an account is not created with %j', async (limits, message) => {
  const creating = createAccountCommand(notReached, { json: true, name: 'Acme', ...limits });
  await expect(creating).rejects.toThrow(message);
});

test('an account may have no webhook endpoints and no orders of its own', async () => {
  const none = { maxOpenExecutions: '0', maxWebhookEndpoints: '0', requestsPerSecond: '1' };
  await expect(createAccountCommand(notReached, { json: true, name: 'Acme', ...none })).rejects.toThrow(
    'it was done',
  );
});

test('closing an account terminates its eSIMs only if told to', () => {
  const program = new Command();
  defineAccounts(program);
  const [accounts] = program.commands;
  const close = accounts?.commands.find((command) => command.name() === 'close');
  expect(close?.opts()['terminateEsims']).toBe(false);
  expect(close?.parseOptions(['--terminate-esims']) && close.opts()['terminateEsims']).toBe(true);
});

test('what tenants called their things cannot change the terminal of an operator, in a table or in JSON', () => {
  const name = 'a\u001b[2J\u009b\u202e';
  expect(table([{ name }])).toBe('NAME\na\\u001b[2J\\u009b\\u202e\n');
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  printJson([name]);
  expect(write.mock.calls).toEqual([['[\n  "a\\u001b[2J\\u009b\\u202e"\n]\n']]);
  write.mockRestore();
});
