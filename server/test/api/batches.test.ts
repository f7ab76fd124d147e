import { encodeId, idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { acceptExecution } from '../../src/orders/executions/accept.ts';
import {
  booleans,
  byteStrings,
  integers,
  texts,
  timestamps,
  uuids,
} from '../../src/platform/db/binary-array.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { createClaim } from '../../src/platform/idempotency/claim.ts';
import { call, provision } from '../support/client.ts';
import { countExecutions } from '../support/count-executions.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const product = 'prod_europe_5gb_30d';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** Accepts an order directly, past the checks that would refuse it earlier. */
function accept(key: string, input: object = {}, db = service.db) {
  const { clock } = service;
  const accountId = encodeId(idPrefixes.account, Buffer.from(service.accountUuid.replaceAll('-', ''), 'hex'));
  const request = { accountId, key, method: 'POST', path: '/v1/esims', query: '', canonicalBody: '{}' };
  const ctx = {
    ...service.service,
    ...commandLine,
    db,
    account: { uuid: service.accountUuid, limits: { openExecutions: null } },
  } as unknown as Parameters<typeof acceptExecution>[0];
  const asked = {
    claim: createClaim(request, clock.nowMs()),
    render: ({ body }: { body: object }) => ({ status: 202, location: null, body: JSON.stringify(body) }),
  };
  return acceptExecution(ctx, { type: 'esim.provision', productId: product, input: () => input }, asked);
}

test('orders that come one at a time are planned a few times, and not each time', async () => {
  const db = openDatabase({ connectionString: service.databaseUrl, poolSize: 1, onError: () => {} });
  try {
    for (let n = 0; n < 10; n++)
      expect(await accept(`alone-${n}`, {}, db)).toMatchObject({ kind: 'answered' });
    const { rows } = await db.pool.query(
      `select custom_plans, generic_plans from pg_prepared_statements where name = 'execution_accept'`,
    );
    expect(rows).toEqual([{ custom_plans: 5, generic_plans: 5 }]);
  } finally {
    await db.end();
  }
});

describe('orders in one batch', () => {
  test('are accepted even if the database refuses one of them', async () => {
    const before = await countExecutions(service);
    const unstorable = { note: '\u0000' };
    const results = await Promise.allSettled([
      accept('good-1'),
      accept('bad', unstorable),
      accept('good-2'),
      accept('good-3'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect((await countExecutions(service)) - before).toBe(3);
    expect(await accept('bad')).toMatchObject({ kind: 'answered', replayed: false });
  });

  test('with the same key become one order and its replay', async () => {
    const before = await countExecutions(service);
    // Repeated, since the retry of the second may run while the refused statement still holds its locks.
    for (let n = 0; n < 30; n++) {
      const keys = [`other-${n}`, `twice-${n}`, `twice-${n}`];
      const outcomes = await Promise.all(keys.map((key) => accept(key)));
      expect(outcomes).toMatchObject([
        { kind: 'answered', replayed: false },
        { kind: 'answered', replayed: false },
        { kind: 'answered', replayed: true },
      ]);
      const [, first, second] = outcomes;
      expect(second).toEqual({ ...first, replayed: true });
    }
    expect((await countExecutions(service)) - before).toBe(60);
  });

  test('get separate answers: a missing product, a stored answer, a reused key and a new key', async () => {
    const stored = await provision(service, 'mixed-stored');
    const [replay, reused, missing, fresh] = await Promise.all([
      provision(service, 'mixed-stored'),
      provision(service, 'mixed-stored-2', { product_id: product, description: 'other' }),
      provision(service, 'mixed-missing', { product_id: 'prod_none' }),
      provision(service, 'mixed-fresh'),
    ]);
    expect(replay.text).toBe(stored.text);
    expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
    expect([reused.status, missing.status, fresh.status]).toEqual([202, 404, 202]);
    const [again, other] = await Promise.all([
      provision(service, 'mixed-missing', { product_id: 'prod_none' }),
      provision(service, 'mixed-stored-2'),
    ]);
    expect(again.text).toBe(missing.text);
    expect(other.json.error.code).toBe('idempotency_key_reused');
  });

  test('may reuse expired keys', async () => {
    const keys = Array.from({ length: 20 }, (_, n) => `expiring-${n}`);
    const first = await Promise.all(keys.map((key) => provision(service, key)));
    service.clock.advance(25 * 3_600_000);
    const second = await Promise.all([...keys, 'another'].map((key) => provision(service, key)));
    expect(new Set(second.map(({ status }) => status))).toEqual(new Set([202]));
    const ids = [...first, ...second].map(({ json }) => json.id);
    expect(new Set(ids).size).toBe(41);
  });

  test('from two processes with the same keys in opposite order are created once each, without deadlock', async () => {
    const other = await startService({ databaseUrl: service.databaseUrl, clock: service.clock });
    try {
      const target = { url: other.url, key: service.key };
      for (let round = 0; round < 3; round++) {
        const keys = Array.from({ length: 60 }, (_, n) => `opposite-${round}-${n}`);
        const before = await countExecutions(service);
        const [up, down] = await Promise.all([
          Promise.all(keys.map((key) => provision(service, key))),
          Promise.all(keys.toReversed().map((key) => provision(target, key))),
        ]);
        expect((await countExecutions(service)) - before).toBe(60);
        for (const [n, one] of up.entries()) {
          const answers = [one, down[keys.length - 1 - n]];
          const accepted = answers.filter((answer) => answer?.status === 202);
          const refused = answers.filter((answer) => answer?.status !== 202);
          expect(new Set(accepted.map((answer) => answer?.text)).size).toBe(1);
          expect(refused.map((answer) => answer?.json.error.code)).toEqual(
            refused.map(() => 'idempotency_in_progress'),
          );
        }
      }
    } finally {
      await other.stop();
    }
  });
});

test('orders settled in one batch are settled even if the database refuses one of them', async () => {
  const own = await startService();
  const mock = createMockNetwork({ delayMs: 0 });
  let isFirst = true;
  own.startWorker({
    ...mock,
    async confirm(call) {
      const reply = await mock.confirm(call);
      if (!isFirst || reply.kind !== 'done') return reply;
      isFirst = false;
      return { ...reply, result: { ...reply.result, smdpAddress: 'smdp\u0000.example' } };
    },
  });
  try {
    const orders = await Promise.all(Array.from({ length: 12 }, () => provision(own)));
    const readStatuses = () =>
      Promise.all(orders.map(({ json }) => call(own, 'GET', `/v1/executions/${json.id}`))).then((replies) =>
        replies.map(({ json }) => json.status).sort(),
      );
    await until(readStatuses, (statuses) => statuses.filter((status) => status === 'succeeded').length >= 11);
    // The twelfth succeeds once the network returns a value that can be stored.
    expect(
      await until(readStatuses, (statuses) => statuses.every((status) => status === 'succeeded')),
    ).toHaveLength(12);
  } finally {
    await own.stop();
  }
});

test('settling orders reads only their own eSIMs, however many others are being provisioned', async () => {
  const own = await startService();
  try {
    await own.db.query(
      {
        name: 'test_waiting_esims',
        text: `insert into execution_queue (account_id, id, type, iccid, product_id, input, attempts, due_at, created_at)
               select $1, uuid_v7(now()), 'esim.provision', 'waiting-' || n, $2, '{}', 1, now() + interval '1 hour', now()
               from generate_series(1, 3000) n`,
      },
      [own.accountUuid, product],
    );
    own.startWorker(createMockNetwork({ delayMs: 0 }));
    await Promise.all(Array.from({ length: 30 }, () => provision(own)));
    type Read = { settled: number; read: number };
    const readCounts = async () => {
      const [row] = await own.db.query<Read>({
        name: 'test_read_esims',
        text: `select n_tup_del as settled,
                 (select sum(idx_tup_read)::bigint from pg_stat_user_indexes where relname in ('esims', 'execution_queue')) as read
               from pg_stat_user_tables where relname = 'execution_queue'`,
      });
      return row as Read;
    };
    // PostgreSQL updates its statistics with a delay.
    const { read } = await until(readCounts, ({ settled }) => settled === 30);
    expect(read).toBeLessThan(3_000);
  } finally {
    await own.stop();
  }
});

test('binary array parameters reach the database unchanged', async () => {
  const given = {
    uuids: ['018f3c6e-7b00-7000-8000-0000000000ff', null],
    texts: ['', 'ünï ✓ "quoted", {braces}, back\\slash', null],
    bytes: ['00ff', '', null],
    booleans: [true, false, null],
    integers: [0, -1, 2_147_483_647, null],
    timestamps: [new Date('1999-12-31T23:59:59.999Z'), new Date('2026-11-15T05:00:00.001Z'), null],
    none: [],
  };
  const [row] = await service.db.query<Record<string, unknown>>(
    {
      name: 'test_binary_arrays',
      text: `select $1::uuid[] as uuids, $2::text[] as texts, $3::bytea[] as bytes, $4::boolean[] as booleans,
               $5::integer[] as integers, $6::timestamptz[] as timestamps, $7::text[] as none`,
    },
    [
      uuids(given.uuids),
      texts(given.texts),
      byteStrings(given.bytes),
      booleans(given.booleans),
      integers(given.integers),
      timestamps(given.timestamps),
      texts(given.none),
    ],
  );
  const bytes = given.bytes.map((hex) => (hex === null ? null : Buffer.from(hex, 'hex')));
  expect(row).toEqual({ ...given, bytes });
});
