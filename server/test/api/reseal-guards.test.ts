import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeyring, prefixOf } from '../../src/platform/secrets/keyring.ts';
import { openSamples, reseal } from '../../src/platform/secrets/reseal.ts';
import { sealedColumns } from '../../src/platform/secrets/sealed-columns.ts';
import { confirmationCodePlace, orderMatchingIdPlace } from '../../src/platform/secrets/sealed-places.ts';
import { findSealingState, listSealingKeys, replaceSecrets } from '../../src/platform/secrets/sql.ts';
import { call } from '../support/client.ts';
import { allowOldForm, sealUnbound } from '../support/old-form.ts';
import { startService, type TestService } from '../support/service.ts';

const [oldKey, newKey, lostKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
const keyring = createKeyring([newKey, oldKey], { isOldFormRefused: async () => false });

let service: TestService;
beforeEach(async () => {
  service = await startService();
  await allowOldForm(service.db);
  const body = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['*'] };
  expect((await call(service, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
  await sql('delete from webhook_secrets');
});
afterEach(() => service.stop());

const run = () => reseal({ db: service.db, keyring, onProgress: () => {} });

async function sql(text: string, values: unknown[] = []) {
  return (await service.db.pool.query(text, values)).rows;
}

function insertSecrets(count: number, sealed: string, expiresAt: string | null = null) {
  return sql(
    `insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at, expires_at)
     select account_id, id, gen_random_uuid(), $1, now(), now() + $2::interval
     from webhook_endpoints, generate_series(1, $3)`,
    [sealed, expiresAt, count],
  );
}

function insertAnswers(count: number, body: string, expiresIn: string) {
  return sql(
    `insert into idempotency_keys (account_id, key, fingerprint, status, body, is_sealed, created_at, expires_at)
     select $1, 'key-' || n, '', 200, $2, true, now(), now() + $3::interval from generate_series(1, $4) n`,
    [service.accountUuid, body, expiresIn, count],
  );
}

function insertOrder(status: string, matchingId: string) {
  return sql(
    `insert into executions (account_id, id, type, status, product_id, input, progress, created_at)
     values ($1, gen_random_uuid(), 'esim.provision', $2, 'prod', '{}', jsonb_build_object('matching_id', $3::text, 'kept', true), now())`,
    [service.accountUuid, status, matchingId],
  );
}

test('a lost key is no trouble if what it sealed is never opened again, and a matching id that is stored elsewhere is deleted', async () => {
  const lost = sealUnbound(lostKey, 'a secret');
  await insertSecrets(1, lost, '-1 hour');
  await insertAnswers(1, lost, '-1 hour');
  await insertOrder('succeeded', lost);
  expect(await openSamples(service.db, keyring)).toEqual({ count: 0, unreadable: [] });
  expect(await run()).toMatchObject({ isComplete: true, unreadableCount: 0 });
  expect(await sql('select progress from executions')).toEqual([{ progress: { kept: true } }]);
  expect(await sql('select sealed from webhook_secrets')).toEqual([{ sealed: lost }]);
});

test('of secrets that can still be needed, samples are tried, and those of a lost key are named', async () => {
  await insertSecrets(1, sealUnbound(lostKey, 'a secret'));
  await insertAnswers(1, sealUnbound(oldKey, 'an answer'), '1 hour');
  await insertOrder('failed', sealUnbound(lostKey, 'a matching id'));
  const { count, unreadable } = await openSamples(service.db, keyring);
  expect([count, unreadable.map((one) => one.split(':', 1)[0])]).toEqual([
    3,
    ['signing_secrets', 'matching_ids_of_orders'],
  ]);
});

test('of each kind twenty secrets are tried, among the first thousand rows', async () => {
  await insertAnswers(25, sealUnbound(oldKey, 'an answer'), '1 hour');
  expect(await openSamples(service.db, keyring)).toEqual({ count: 20, unreadable: [] });
  await sql('delete from idempotency_keys');
  await insertAnswers(999, sealUnbound(lostKey, 'an answer'), '-1 hour');
  const insert = `insert into idempotency_keys (account_id, key, fingerprint, status, body, is_sealed, created_at, expires_at)
     select $1, $2, '', 200, $3, true, now(), now() + interval '1 hour'`;
  for (const key of ['z1', 'z2'])
    await sql(insert, [service.accountUuid, key, sealUnbound(oldKey, 'the last answers')]);
  expect(await openSamples(service.db, keyring)).toEqual({ count: 1, unreadable: [] });
});

test('what an open order has sealed is sealed anew at its place, and the rest of the order stays', async () => {
  const [uuid, other] = [randomUUID(), randomUUID()];
  const [code, matchingId] = [sealUnbound(oldKey, '4711'), sealUnbound(oldKey, 'K7QM4')];
  const insert = `insert into execution_queue (account_id, id, type, product_id, input, progress, created_at, due_at)
     values ($1, $2, 'esim.provision', 'prod', $3, $4, now(), now() + interval '1 hour')`;
  const input = { sealed_confirmation_code: code, metadata: { n: '1' } };
  await sql(insert, [service.accountUuid, uuid, input, { matching_id: matchingId, failures: 1 }]);
  await sql(insert, [service.accountUuid, other, { metadata: {} }, {}]);
  expect(await openSamples(service.db, keyring)).toEqual({ count: 2, unreadable: [] });
  const { isComplete, resealed } = await run();
  expect(isComplete).toBe(true);
  expect(Object.fromEntries(resealed.map(({ column, count }) => [column, count]))).toMatchObject({
    ...{ confirmation_codes: 1, matching_ids_of_open_orders: 1 },
  });
  const read = 'select input, progress from execution_queue where account_id = $1 and id = $2';
  const [order] = await sql(read, [service.accountUuid, uuid]);
  const { sealed_confirmation_code: sealedCode, ...restOfInput } = order.input;
  const { matching_id: sealedId, ...restOfProgress } = order.progress;
  expect([restOfInput, restOfProgress]).toEqual([{ metadata: { n: '1' } }, { failures: 1 }]);
  const withNewKeyOnly = createKeyring([newKey]);
  const { accountUuid } = service;
  expect(await withNewKeyOnly.open(sealedCode, confirmationCodePlace(accountUuid, uuid))).toBe('4711');
  expect(await withNewKeyOnly.open(sealedId, orderMatchingIdPlace(accountUuid, uuid))).toBe('K7QM4');
  expect(await sql(read, [accountUuid, other])).toEqual([{ input: { metadata: {} }, progress: {} }]);
});

test('a secret that was replaced since it was read is left as it is', async () => {
  const [read, stored] = [sealUnbound(oldKey, 'read'), sealUnbound(oldKey, 'stored since')];
  await insertSecrets(1, stored);
  const [row] = await sql('select account_id, endpoint_id, id from webhook_secrets');
  const [column] = sealedColumns;
  const change = { key: Object.values<string>(row), sealed: 'v2.sealed' };
  const replace = (given: string) =>
    service.db.transaction((tx) =>
      replaceSecrets(tx, column as NonNullable<typeof column>, [{ ...change, stored: given }]),
    );
  expect(await replace(read)).toBe(0);
  expect(await sql('select sealed from webhook_secrets')).toEqual([{ sealed: stored }]);
  expect(await replace(stored)).toBe(1);
});

test('of several keys that secrets need, the one that was used first is named first', async () => {
  await sql('delete from sealing_keys');
  const insert = 'insert into sealing_keys (id, first_used_at) values ($1, $2)';
  for (const [id, at] of [
    ['00000002', '2026-01-03'],
    ['0000000f', '2026-01-01'],
    ['00000001', '2026-01-03'],
    ['00000003', '2026-01-02'],
  ])
    await sql(insert, [id, at]);
  expect(await listSealingKeys(service.db)).toEqual(['0000000f', '00000003', '00000001', '00000002']);
});

test('what is unreadable is counted, and the first hundred are listed', async () => {
  const lost = sealUnbound(lostKey, 'a secret');
  await insertSecrets(70, lost);
  await insertAnswers(70, lost, '1 hour');
  const { unreadable, unreadableCount } = await run();
  expect([unreadable.length, unreadableCount]).toEqual([100, 140]);
});

test('a locked secret is waited for, also if another one cannot be opened', async () => {
  const [lost, old] = [sealUnbound(lostKey, 'a secret'), sealUnbound(oldKey, 'an answer')];
  await insertSecrets(1, lost);
  await insertAnswers(1, old, '1 hour');
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    holding = service.db.transaction(async (tx) => {
      await tx.query({
        name: 'test_hold_answer',
        text: 'select from idempotency_keys where is_sealed for update',
      });
      resolve();
      await released;
    });
    holding.catch(reject);
  });
  let passes = 0;
  const result = await reseal({
    db: service.db,
    onProgress: () => {},
    keyring: {
      ...keyring,
      open(stored, place) {
        if (stored === lost && ++passes === 2) release();
        return keyring.open(stored, place);
      },
    },
  });
  release();
  await holding;
  expect(result).toMatchObject({ isComplete: true, unreadableCount: 1 });
  const [answer] = await sql('select body from idempotency_keys where is_sealed');
  expect(answer.body.startsWith(prefixOf(keyring))).toBe(true);
});

test('no statement rewrites more than 200 secrets, so that whatever needs their rows waits only briefly', async () => {
  await insertAnswers(450, sealUnbound(oldKey, 'an answer'), '1 hour');
  await sql(`create table test_updates (count integer);
    create function note_update() returns trigger language plpgsql as
      $$ begin insert into test_updates select count(*) from changed; return null; end $$;
    create trigger note_update after update on idempotency_keys referencing new table as changed
      for each statement execute function note_update()`);
  expect(await run()).toMatchObject({ isComplete: true });
  const counts = (await sql('select count from test_updates')).map(({ count }) => count);
  expect([Math.max(...counts), counts.reduce((sum, count) => sum + count)]).toEqual([200, 450]);
});

test('since when the old format is refused stays known after another reseal', async () => {
  await run();
  const first = await findSealingState(service.db);
  await run();
  const second = await findSealingState(service.db);
  expect(second?.old_form_refused_at).toEqual(first?.old_form_refused_at);
  expect(second?.resealed_at).not.toEqual(first?.resealed_at);
});
