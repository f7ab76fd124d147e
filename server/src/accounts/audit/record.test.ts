import { expect, test } from 'vitest';
import type { Queryable } from '../../platform/db/database.ts';
import type { Origin } from '../context.ts';
import { changedFields, commandLine, recordAudit } from './record.ts';

const key = (scopes: ('read' | 'operator')[]) => ({
  ...{ id: 'key_1', uuid: 'k', name: 'Key', last4: 'abcd', createdAt: new Date(0) },
  scopes,
});

/** The entry of a change that comes from there, as it is stored. */
async function entryOf(origin: Origin, changes?: Record<string, unknown>): Promise<unknown[]> {
  let stored: unknown[] = [];
  const tx = {
    async query(_: object, values: unknown[]) {
      stored = values;
      return [];
    },
  } as unknown as Queryable;
  const author = { ...origin, clock: { nowMs: () => 7 }, newUuid: () => Buffer.alloc(16, 1) };
  await recordAudit(tx, author, {
    ...{ accountUuid: 'a', action: 'account.updated', target: { type: 'account', id: 'acct_1' } },
    ...(changes && { changes }),
  });
  return stored;
}

test.each<[string, Origin, unknown[]]>([
  ['a key', { apiKey: key(['read']), requestId: 'r', ip: '10.0.0.1' }, ['api_key', 'key_1', 'Key']],
  [
    'an operator',
    { apiKey: key(['read', 'operator']), requestId: 'r', ip: null },
    ['operator', 'key_1', 'Key'],
  ],
  ['a stranger', { apiKey: null, requestId: 'r', ip: '10.0.0.1' }, ['anonymous', null, null]],
  ['the command line', commandLine, ['command_line', null, null]],
])('an entry says who made the change: %s', async (_, origin, actor) => {
  const entry = await entryOf(origin);
  expect(entry).toEqual([
    ...['a', '01'.repeat(16), ...actor, 'account.updated', 'account', 'acct_1', null],
    ...[origin.requestId, origin.ip, origin.via ?? null, new Date(7)],
  ]);
});

test('a secret among the changes is not stored', async () => {
  const [, , , , , , , , changes] = await entryOf(commandLine, { name: 'sp_live_0123456789' });
  expect(changes).toBe('{"name":"[redacted]"}');
});

test('the fields that differ are told, with null for what was not there, and no others', () => {
  const before = { same: ['a'], name: 'Old', gone: undefined, limit: 5 as number | null | undefined };
  expect(changedFields(before, { same: ['a'], name: 'New', gone: undefined, limit: undefined })).toEqual({
    ...{ name: { from: 'Old', to: 'New' }, limit: { from: 5, to: null } },
  });
  expect(changedFields({ limit: undefined }, { limit: null as never })).toEqual({});
});
