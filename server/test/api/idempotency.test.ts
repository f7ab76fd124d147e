import { operation } from '@simplane/contract';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../src/accounts/context.ts';
import { AppError } from '../../src/platform/app-error.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { purgeExpiredKeys } from '../../src/platform/idempotency/purge-expired.ts';
import { tryLockKey } from '../../src/platform/idempotency/try-lock-key.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { countExecutions } from '../support/count-executions.ts';
import { apiWith, startService, type TestService } from '../support/service.ts';

const hour = 3_600_000;
const product = 'prod_europe_5gb_30d';

/** Two probe writes on one path, to test another path and another method; each counts its runs. */
const runs: string[] = [];
let hold: Promise<void> = Promise.resolve();
let started: () => void = () => {};

function probe(method: 'POST' | 'DELETE') {
  return operation({
    method,
    path: '/v1/probes/{id}',
    tag: 'Probes',
    summary: 'A write',
    description: 'A write',
    scope: 'write',
    audit: { action: 'esim.updated', target: 'esim' },
    params: Type.Object({ id: Type.String() }),
    body: Type.Object({ product_id: Type.Optional(Type.String()) }, { additionalProperties: false }),
    status: 200,
    response: Type.Object({ runs: Type.Integer() }),
    refusals: [],
  });
}

function addToName(tx: Queryable, accountUuid: string) {
  const text = 'update accounts set name = name || $2 where id = $1';
  return tx.query({ name: 'probe_effect', text }, [accountUuid, '!']);
}

async function runProbe(tx: Queryable, ctx: Context, { params }: { params: { id: string } }) {
  runs.push(params.id);
  started();
  await hold;
  await addToName(tx, ctx.account.uuid);
  if (params.id === 'gone') throw new AppError('resource_missing', 'It is gone.');
  if (params.id === 'broken') throw new Error('broken on purpose');
  return { body: { runs: runs.length } };
}

let service: TestService;
beforeAll(async () => {
  const definitions = { probeCreate: probe('POST'), probeDelete: probe('DELETE') };
  service = await startService({
    api: apiWith({ operations: definitions, handlers: { probeCreate: runProbe, probeDelete: runProbe } }),
  });
});
afterAll(() => service.stop());

async function accountName(): Promise<string> {
  return (await call(await freshTarget(), 'GET', '/v1/me')).json.account.name;
}

/** A new key is not cached, so it shows the account's current state. */
async function freshTarget() {
  return { url: service.url, key: await service.createKey() };
}

describe('one key, one operation', () => {
  test('fifty concurrent requests create one execution; each gets the same 202 or a 409', async () => {
    const before = await countExecutions(service);
    const replies = await Promise.all(Array.from({ length: 50 }, () => provision(service, 'fifty')));
    expect((await countExecutions(service)) - before).toBe(1);
    const accepted = replies.filter(({ status }) => status === 202);
    const refused = replies.filter(({ status }) => status !== 202);
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
    for (const reply of refused) {
      expect([reply.status, reply.json.error.code]).toEqual([409, 'idempotency_in_progress']);
      expect(reply.headers.get('Retry-After')).toBe('1');
    }
  });

  test('a retry gets the same status, bytes and Location, marked as a replay', async () => {
    const first = await provision(service, 'retry');
    const second = await provision(service, 'retry');
    expect(first.headers.get('Idempotent-Replayed')).toBeNull();
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(second.text).toBe(first.text);
    expect(second.status).toBe(first.status);
    expect(second.headers.get('Location')).toBe(first.headers.get('Location'));
    expect(first.headers.get('Location')).toBe(`/v1/executions/${first.json.id}`);
  });

  test('a retry sent as soon as the answer arrives is a replay, never a 409', async () => {
    for (let i = 0; i < 50; i++) {
      await provision(service, `immediate-${i}`);
      expect((await provision(service, `immediate-${i}`)).status).toBe(202);
    }
  });

  test('without a key every request is a separate order', async () => {
    const before = await countExecutions(service);
    await Promise.all([provision(service), provision(service)]);
    expect((await countExecutions(service)) - before).toBe(2);
  });

  test('keys belong to an account: two accounts may use the same one', async () => {
    const other = await service.createAccount('Other');
    const mine = await provision(service, 'shared');
    const theirs = await provision({ url: service.url, key: other.key }, 'shared');
    expect([mine.status, theirs.status]).toEqual([202, 202]);
    expect(theirs.json.id).not.toBe(mine.json.id);
  });

  test('two keys of one account share their idempotency keys', async () => {
    const mine = await provision(service, 'same-account');
    const theirs = await provision(await freshTarget(), 'same-account');
    expect(theirs.text).toBe(mine.text);
  });
});

describe('what counts as the same request', () => {
  const reused = [400, 'idempotency_key_reused'];

  function codeOf({ status, json }: Reply) {
    return [status, json.error?.code];
  }

  test('a body serialized differently is the same', async () => {
    const first = await call(service, 'POST', '/v1/esims', {
      idempotencyKey: 'reserialised',
      raw: `{"product_id":"${product}","metadata":{"a":"1","b":"é"}}`,
    });
    const second = await call(service, 'POST', '/v1/esims', {
      idempotencyKey: 'reserialised',
      raw: `{ "metadata" : { "b" : "\\u00e9", "a" : "1" },\n "product_id" : "${product}" }`,
    });
    expect(first.status).toBe(202);
    expect(second.text).toBe(first.text);
  });

  test('no body and an empty object are the same', async () => {
    const first = await call(service, 'POST', '/v1/probes/empty', { idempotencyKey: 'empty' });
    const second = await call(service, 'POST', '/v1/probes/empty', { idempotencyKey: 'empty', body: {} });
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect(second.text).toBe(first.text);
  });

  test('another body, path, query or method is refused, even if it is invalid', async () => {
    await provision(service, 'taken');
    expect(codeOf(await provision(service, 'taken', { product_id: 'prod_us_1gb_7d' }))).toEqual(reused);
    expect(codeOf(await provision(service, 'taken', { product_id: 5 }))).toEqual(reused);
    expect(codeOf(await provision(service, 'taken', { nonsense: true }))).toEqual(reused);
    const body = { product_id: product };
    expect(codeOf(await call(service, 'POST', '/v1/probes/x', { idempotencyKey: 'taken', body }))).toEqual(
      reused,
    );
    expect(codeOf(await call(service, 'POST', '/v1/esims?a=1', { idempotencyKey: 'taken', body }))).toEqual(
      reused,
    );
    await call(service, 'POST', '/v1/probes/y', { idempotencyKey: 'posted' });
    expect(codeOf(await call(service, 'DELETE', '/v1/probes/y', { idempotencyKey: 'posted' }))).toEqual(
      reused,
    );
  });

  test('a validation error is not stored: the corrected body may use the key', async () => {
    expect((await provision(service, 'corrected', { product_id: 5 })).status).toBe(400);
    expect((await provision(service, 'corrected')).status).toBe(202);
  });
});

test('an order whose key another process works on is refused as in progress, without waiting', async () => {
  const other = await service.db.pool.connect();
  try {
    await other.query('begin');
    const lock = `select ${tryLockKey('$1::uuid', '$2::text')} as locked`;
    const { rows } = await other.query(lock, [service.accountUuid, 'elsewhere']);
    expect(rows).toEqual([{ locked: true }]);
    const reply = await provision(service, 'elsewhere');
    expect([reply.status, reply.json.error?.code]).toEqual([409, 'idempotency_in_progress']);
  } finally {
    await other.query('rollback');
    other.release();
  }
  expect((await provision(service, 'elsewhere')).headers.get('Idempotent-Replayed')).toBeNull();
});

test('an order is not held up by another account that works on the same key', async () => {
  const { accountUuid } = await service.createAccount('The same key');
  await service.db.transaction(async (tx) => {
    const text = `select ${tryLockKey('$1::uuid', '$2::text')} as locked`;
    const locked = await tx.query({ name: 'test_lock_of_another', text }, [accountUuid, 'of-both']);
    expect(locked).toEqual([{ locked: true }]);
    expect((await provision(service, 'of-both')).status).toBe(202);
    expect((await call(service, 'POST', '/v1/probes/y', { idempotencyKey: 'of-both-too' })).status).toBe(200);
  });
});

describe('how long a key is kept', () => {
  test('a key is kept for 24 hours and then free, even for another body', async () => {
    const first = await provision(service, 'day');
    service.clock.advance(24 * hour - 60_000);
    expect((await provision(service, 'day')).text).toBe(first.text);
    service.clock.advance(61_000);
    const next = await provision(service, 'day', { product_id: 'prod_us_1gb_7d' });
    expect(next.status).toBe(202);
    expect(next.headers.get('Idempotent-Replayed')).toBeNull();
    expect((await provision(service, 'day', { product_id: 'prod_us_1gb_7d' })).text).toBe(next.text);
  });

  test('an expired answer is not given to an order that is refused now', async () => {
    await service.db.pool.query(
      `insert into products select 'prod_ending', name, countries, data_bytes, validity_days, price_amount, price_currency,
       speeds, true, true, created_at from products where id = 'prod_us_1gb_7d'`,
    );
    expect((await provision(service, 'ending', { product_id: 'prod_ending' })).status).toBe(202);
    await service.db.pool.query(`update products set active = false where id = 'prod_ending'`);
    service.clock.advance(25 * hour);
    const again = await provision(service, 'ending', { product_id: 'prod_ending' });
    expect([again.status, again.json.error?.code]).toEqual([409, 'state_conflict']);
  });

  test('an expired key is free for other operations too', async () => {
    await call(service, 'POST', '/v1/probes/z', { idempotencyKey: 'day-probe' });
    service.clock.advance(25 * hour);
    const reply = await call(service, 'DELETE', '/v1/probes/z', { idempotencyKey: 'day-probe' });
    expect([reply.status, reply.headers.get('Idempotent-Replayed')]).toEqual([200, null]);
  });

  test('an expired key replays the status and the place of what it is used for next', async () => {
    const uses: ((key: string, by?: { url: string; key: string }) => Promise<Reply>)[] = [
      (key, by = service) => provision(by, key),
      (key, by = service) => call(by, 'POST', '/v1/probes/z', { idempotencyKey: key }),
    ];
    const seen = ({ status, headers, text }: Reply) => [status, headers.get('Location'), text];
    for (const [index, use] of uses.entries()) {
      const before = await uses[1 - index]?.(`both-${index}`);
      service.clock.advance(25 * hour);
      const first = await use(`both-${index}`);
      expect(first.status).not.toBe(before?.status);
      const again = await use(`both-${index}`, await freshTarget());
      expect(again.headers.get('Idempotent-Replayed')).toBe('true');
      expect(seen(again)).toEqual(seen(first));
    }
  });

  test('an expired key whose answer was a secret replays what it is used for next', async () => {
    const uses: ((key: string, by?: { url: string; key: string }) => Promise<Reply>)[] = [
      (key, by = service) => provision(by, key),
      (key, by = service) => call(by, 'POST', '/v1/probes/z', { idempotencyKey: key }),
    ];
    const limitOrders = (limit: number | null) =>
      service.db.pool.query('update accounts set max_open_executions = $1 where id = $2', [
        limit,
        service.accountUuid,
      ]);
    for (const [index, use] of uses.entries()) {
      const key = `secret-${index}`;
      const body = { name: 'Secret', scopes: ['read'] };
      expect((await call(service, 'POST', '/v1/api_keys', { idempotencyKey: key, body })).status).toBe(201);
      service.clock.advance(25 * hour);
      const first = await use(key);
      expect([first.status < 300, first.headers.get('Idempotent-Replayed')]).toEqual([true, null]);
      service.clock.advance(23 * hour);
      const again = await use(key);
      expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([first.text, 'true']);
      // At its limit of open orders an account gets the stored answer too.
      await limitOrders(1);
      expect((await use(key, await freshTarget())).text).toBe(first.text);
      await limitOrders(null);
    }
  });

  test('expired keys are deleted without waiting for one that another process deletes', async () => {
    const insert = `insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
      select gen_random_uuid(), 'held-' || n, '', 200, '', now(), now() - interval '1 hour' from generate_series(1, 2) n`;
    await service.db.pool.query(insert);
    const left = async () =>
      (await service.db.pool.query(`select key from idempotency_keys where key like 'held-%'`)).rows;
    await service.db.transaction(async (tx) => {
      const text = `select from idempotency_keys where key = 'held-1' for update`;
      await tx.query({ name: 'test_hold_key', text });
      await purgeExpiredKeys(service.db, service.clock);
      expect(await left()).toEqual([{ key: 'held-1' }]);
    });
    await purgeExpiredKeys(service.db, service.clock);
    expect(await left()).toEqual([]);
  });

  test('no statement deletes more than a thousand expired keys, so that it holds its locks only briefly', async () => {
    const { pool } = service.db;
    await pool.query(`create table test_deletions (count integer);
      create function note_deletion() returns trigger language plpgsql as
        $$ begin insert into test_deletions select count(*) from gone; return null; end $$;
      create trigger note_deletion after delete on idempotency_keys referencing old table as gone
        for each statement execute function note_deletion();
      insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
        select gen_random_uuid(), 'many-' || n, '', 200, '', now(), now() - interval '1 hour' from generate_series(1, 2500) n`);
    await purgeExpiredKeys(service.db, service.clock);
    const { rows } = await pool.query<{ count: number }>('select count from test_deletions');
    await pool.query('drop trigger note_deletion on idempotency_keys');
    expect(Math.max(...rows.map(({ count }) => count))).toBe(1_000);
  });

  test('expired keys are deleted in batches, and live ones stay', async () => {
    await service.db.query({
      name: 'test_fill',
      text: `insert into idempotency_keys (account_id, key, fingerprint, status, body, created_at, expires_at)
             select gen_random_uuid(), 'old-' || n, '', 200, '', now(), now() - interval '1 hour' from generate_series(1, 2500) n`,
    });
    await provision(service, 'alive');
    expect(await purgeExpiredKeys(service.db, service.clock)).toBeGreaterThanOrEqual(2500);
    expect((await provision(service, 'alive')).headers.get('Idempotent-Replayed')).toBe('true');
  });
});

describe('what is stored', () => {
  test('a refusal by the operation is stored: an unknown product stays unknown to this key', async () => {
    const first = await provision(service, 'missing', { product_id: 'prod_later' });
    expect([first.status, first.json.error.param]).toEqual([404, 'product_id']);
    await service.db.query({
      name: 'test_later',
      text: `insert into products select 'prod_later', name, countries, data_bytes, validity_days, price_amount, price_currency,
             speeds, true, true, created_at from products where id = 'prod_us_1gb_7d'`,
    });
    const second = await provision(service, 'missing', { product_id: 'prod_later' });
    expect(second.text).toBe(first.text);
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await provision(service, 'missing-2', { product_id: 'prod_later' })).status).toBe(202);
  });

  test('an inactive product is a 409 that names it', async () => {
    await service.db.query({
      name: 'test_retire',
      text: `update products set active = false where id = 'prod_gulf_3gb_14d'`,
    });
    const reply = await provision(service, 'retired', { product_id: 'prod_gulf_3gb_14d' });
    expect([reply.status, reply.json.error.code]).toEqual([409, 'state_conflict']);
    expect(reply.json.error.message).toContain('prod_gulf_3gb_14d');
  });

  test('a refusal rolls back what the operation wrote', async () => {
    const before = await accountName();
    const first = await call(service, 'POST', '/v1/probes/gone', { idempotencyKey: 'gone' });
    const second = await call(service, 'POST', '/v1/probes/gone', { idempotencyKey: 'gone' });
    expect([first.status, second.status]).toEqual([404, 404]);
    expect(second.text).toBe(first.text);
    expect(await accountName()).toBe(before);
  });

  test('a server error is not stored: the retry runs', async () => {
    const count = runs.length;
    for (let i = 0; i < 2; i++) {
      expect((await call(service, 'POST', '/v1/probes/broken', { idempotencyKey: 'broken' })).status).toBe(
        500,
      );
    }
    expect(runs.length - count).toBe(2);
  });

  test('a second request gets 409 at once while the first still runs', async () => {
    let release = () => {};
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const first = call(service, 'POST', '/v1/probes/slow', { idempotencyKey: 'slow' });
    await running;
    const second = await call(service, 'POST', '/v1/probes/slow', { idempotencyKey: 'slow' });
    expect([second.status, second.json.error.code]).toEqual([409, 'idempotency_in_progress']);
    release();
    expect((await first).status).toBe(200);
    expect((await call(service, 'POST', '/v1/probes/slow', { idempotencyKey: 'slow' })).status).toBe(200);
  });
});

test('nothing of a transaction that failed is committed by the next one on its connection', async () => {
  const before = await accountName();
  const failed = service.db.transaction(async (tx) => {
    await addToName(tx, service.accountUuid);
    throw new Error('on purpose');
  });
  await expect(failed).rejects.toThrow('on purpose');
  const statement = { name: 'test_one', text: 'select 1' };
  const others = Array.from({ length: 8 }, () => service.db.transaction((tx) => tx.query(statement)));
  await Promise.all(others);
  expect(await accountName()).toBe(before);
});
