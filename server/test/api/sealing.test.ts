import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network, Reply } from '../../src/network/port.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { claimSealingKey } from '../../src/platform/secrets/claim-sealing-key.ts';
import { createKeyring, keyIdOf } from '../../src/platform/secrets/keyring.ts';
import { createOldFormCheck } from '../../src/platform/secrets/old-form.ts';
import { reseal } from '../../src/platform/secrets/reseal.ts';
import { orderMatchingIdPlace } from '../../src/platform/secrets/sealed-places.ts';
import {
  findSealingState,
  listSealingKeys,
  lockSealingKeys,
  recordSealingKey,
} from '../../src/platform/secrets/sql.ts';
import { call, provision } from '../support/client.ts';
import { allowOldForm, everythingStored, sealUnbound } from '../support/old-form.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const mock = createMockNetwork({ delayMs: 0 });

let service: TestService;
let receiver: Receiver;
const others: TestService[] = [];

beforeEach(async () => {
  // A rotation has begun: every process knows the new key, and some still seal with the old one.
  service = await startService({ keyring: createKeyring([oldKey, newKey]) });
  receiver = await startReceiver();
});
afterEach(async () => {
  await Promise.all(others.splice(0).map((other) => other.stop()));
  await receiver.stop();
  await service.stop();
});

/** Starts another process of the deployment with these keys. */
async function startOther(keys: Buffer[]): Promise<TestService> {
  const { db, databaseUrl } = service;
  const keyring = createKeyring(keys, { isOldFormRefused: createOldFormCheck(db) });
  const other = { ...(await startService({ databaseUrl, keyring })), key: service.key };
  others.push(other);
  return other;
}

function resealWith(...keys: Buffer[]) {
  const { db } = service;
  const keyring = createKeyring(keys, { isOldFormRefused: createOldFormCheck(db) });
  return reseal({ db, keyring, onProgress: () => {} });
}

function sql(text: string, values: unknown[] = []) {
  return service.db.query<Record<string, string>>({ name: `test_${text}`.slice(0, 60), text }, values);
}

async function createEndpoint(path: string, idempotencyKey: string = randomUUID()) {
  const body = { url: receiver.url + path, enabled_event_types: ['*'] };
  const { json, text } = await call(service, 'POST', '/v1/webhook_endpoints', { body, idempotencyKey });
  return { id: json.id, secret: json.secret, uuid: uuidOfId('we', json.id), body, text, idempotencyKey };
}

function publish(target: TestService = service) {
  return call(target, 'POST', '/v1/events/test', { body: { type: 'esim.provisioned', data: {} } });
}

async function settled(id: string, target: TestService = service) {
  return until(
    async () => (await call(target, 'GET', `/v1/executions/${id}`)).json,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function orderOne(body: object = { product_id: 'prod_europe_5gb_30d' }) {
  return settled((await provision(service, undefined, body)).json.id);
}

function install(iccid: string, target: TestService = service) {
  return call(target, 'GET', `/v1/esims/${iccid}/install`);
}

function receivedAt(path: string) {
  return receiver.received.filter((one) => one.path === path);
}

function isSignedWith(secret: string, { headers, body }: (typeof receiver.received)[number]): boolean {
  const [, at = '', given = ''] = /^t=(\d+),v1=([0-9a-f]+)$/.exec(String(headers['service-signature'])) ?? [];
  return createHmac('sha256', secret).update(`${at}.${body}`).digest('hex') === given;
}

describe('a sealed value copied within the database', () => {
  test('from one endpoint to another signs nothing; the endpoint does not count as failing, and a rotation fixes it', async () => {
    service.startSender();
    const [a, b] = [await createEndpoint('/a'), await createEndpoint('/b')];
    await publish(); // now the sender has cached both secrets
    await expect.poll(() => receiver.received.length).toBe(2);
    // Copies the row's id too, so only the endpoint differs.
    await sql('delete from webhook_secrets where endpoint_id = $1', [b.uuid]);
    await sql(
      `insert into webhook_secrets select account_id, $2, id, sealed, created_at from webhook_secrets where endpoint_id = $1`,
      [a.uuid, b.uuid],
    );
    // As whatever changes secrets: else the sender uses what it knows until its lease needs renewal.
    await sql('update webhook_endpoints set url = url where id = $1', [b.uuid]);
    const { json: event } = await publish();
    await expect.poll(() => receivedAt('/a').length).toBe(2);
    await until(
      async () => service.logLines.join(),
      (lines) => lines.includes('signing_secret in webhook_secrets'),
    );
    expect(receivedAt('/b')).toHaveLength(1);
    const { json } = await call(service, 'GET', `/v1/events/${event.id}/deliveries`);
    const [waiting] = json.data.filter((one: { status: string }) => one.status === 'pending');
    expect(waiting).toMatchObject({ webhook_endpoint_id: b.id, attempts: [] });
    // The first delivery was received, and may still be in the queue for a moment.
    await expect
      .poll(() =>
        sql(
          `select e.status, e.failing_since, e.failure_count, d.attempt_count, d.due_at > now() + interval '30 s' as later
         from webhook_endpoints e join delivery_queue d on d.endpoint_id = e.id where e.id = $1`,
          [b.uuid],
        ),
      )
      .toEqual([
        {
          status: 'enabled',
          failing_since: null,
          failure_count: 0,
          attempt_count: 0,
          later: true,
        },
      ]);

    const rotated = await call(service, 'POST', `/v1/webhook_endpoints/${b.id}/rotate_secret`, {
      body: { expires_in: 0 },
    });
    await publish();
    const [, last] = await until(
      async () => receivedAt('/b'),
      (seen) => seen.length > 1,
    );
    expect(last && isSignedWith(rotated.json.secret, last)).toBe(true);
  });

  test('does not open for another eSIM or in another account', async () => {
    service.startWorker(mock);
    const [a, b] = [await orderOne(), await orderOne()];
    const { json } = await install(a.iccid);
    await sql(
      'update esims set matching_id = (select matching_id from esims where iccid = $1) where iccid = $2',
      [a.iccid, b.iccid],
    );
    const reply = await install(b.iccid);
    expect([reply.status, reply.json.error.code]).toEqual([500, 'internal']);
    // Nor does it open when its row moves to another account.
    const stranger = await service.createAccount('Stranger');
    await sql('update esims set account_id = $2 where iccid = $1', [a.iccid, stranger.accountUuid]);
    const moved = await call({ url: service.url, key: stranger.key }, 'GET', `/v1/esims/${a.iccid}/install`);
    expect(moved.status).toBe(500);
    expect(reply.text + moved.text + service.logLines.join()).not.toContain(json.matching_id);
  });

  test('is not replayed for another idempotency key', async () => {
    const [a, b] = [await createEndpoint('/a'), await createEndpoint('/b')];
    await sql(
      'update idempotency_keys set body = (select body from idempotency_keys where key = $1) where key = $2',
      [a.idempotencyKey, b.idempotencyKey],
    );
    const replay = await call(service, 'POST', '/v1/webhook_endpoints', {
      body: b.body,
      idempotencyKey: b.idempotencyKey,
    });
    expect([replay.status, replay.json.error.code]).toEqual([500, 'internal']);
    expect(replay.text).not.toContain(a.secret);
  });

  test('is not used for another order, which fails with an internal error', async () => {
    const later: Reply<never> = {
      kind: 'failed',
      reason: { code: 'network_unavailable', message: 'later' },
    };
    service.startWorker({ ...mock, confirm: async () => later }, { retryScheduleMs: [3_600_000] });
    const { json: order } = await provision(service);
    const uuid = uuidOfId('exec', order.id);
    await until(
      () => sql(`select from execution_queue where id = $1 and due_at > now() + interval '30 min'`, [uuid]),
      (rows) => rows.length > 0,
    );
    // At the attempt limit, it is claimed once more and then fails.
    await sql(
      `update execution_queue set attempts = 99, due_at = now(), progress = progress || jsonb_build_object('matching_id', $2::text)
       where id = $1`,
      [uuid, createKeyring([oldKey]).seal('STOLEN', orderMatchingIdPlace(service.accountUuid, randomUUID()))],
    );
    expect(await settled(order.id)).toMatchObject({ status: 'failed', error: { code: 'internal' } });
  });
});

describe('matching ids', () => {
  test('are never stored in the clear, neither while an order runs nor after it succeeds or fails', async () => {
    const seen: { matchingId: string; stored: string }[] = [];
    const network: Network = {
      ...mock,
      forgetsCalls: true, // so that the order's own is stored before the first call
      async confirm(asked) {
        seen.push({ matchingId: asked.matchingId, stored: await everythingStored(service.db) });
        if (seen.length === 2) return { kind: 'refused', reason: { code: 'declined', message: 'no' } };
        return mock.confirm(asked);
      },
    };
    service.startWorker(network);
    const [good, bad] = [await orderOne(), await orderOne()];
    expect([good.status, bad.status]).toEqual(['succeeded', 'failed']);
    const { json } = await install(good.iccid);
    expect(json.matching_id).toBe(seen[0]?.matchingId);
    const after = await everythingStored(service.db);
    for (const { matchingId, stored } of seen) {
      expect(stored).toMatch(/v2\.[0-9a-f]{8}\./);
      for (const text of [stored, after, ...service.logLines]) expect(text).not.toContain(matchingId);
    }
    // After an order has succeeded, only its eSIM keeps it.
    expect(
      await sql(`select progress ->> 'matching_id' as id from executions where status = 'succeeded'`),
    ).toEqual([{ id: null }]);
  });

  test('are the same in every attempt by any process, and are sent with the cancellation', async () => {
    const asked: string[] = [];
    const canceled: (string | null)[] = [];
    const network: Network = {
      ...mock,
      async confirm(call) {
        asked.push(call.matchingId);
        return { kind: 'failed', reason: { code: 'network_unavailable', message: 'later' } };
      },
      async cancel(call) {
        canceled.push(call.matchingId);
        return { kind: 'done', result: {} };
      },
    };
    const first = service.startWorker(network, { retryScheduleMs: [0, 0, 3_600_000] });
    const { json: order } = await provision(service);
    await expect.poll(() => asked.length).toBe(3);
    await first.stop(5_000);
    const other = await startOther([oldKey]);
    other.startWorker(network);
    await sql('update execution_queue set due_at = now() where id = $1', [uuidOfId('exec', order.id)]);
    await expect.poll(() => asked.length).toBeGreaterThan(3);
    expect(new Set(asked).size).toBe(1);
    // Terminated before it was provisioned, so only the order has its matching id.
    const { iccid } = (await call(service, 'GET', `/v1/executions/${order.id}`)).json;
    expect((await call(service, 'DELETE', `/v1/esims/${iccid}`)).status).toBe(202);
    await expect.poll(() => canceled.length).toBeGreaterThan(0);
    expect(new Set(canceled)).toEqual(new Set(asked));
  });
});

describe('data from earlier releases', () => {
  /** An endpoint, an eSIM and an order, with every secret put back into the old form. */
  async function seedOldForm() {
    service.startWorker(mock);
    const endpoint = await createEndpoint('/old');
    const esim = await orderOne();
    const { json: profile } = await install(esim.iccid);
    await allowOldForm(service.db);
    await sql('update webhook_secrets set sealed = $1', [sealUnbound(oldKey, endpoint.secret)]);
    await sql('update idempotency_keys set body = $1 where key = $2', [
      sealUnbound(oldKey, endpoint.text),
      endpoint.idempotencyKey,
    ]);
    await sql('update esims set matching_id = $1', [profile.matching_id]);
    await sql(`update executions set progress = progress || jsonb_build_object('matching_id', $1::text)`, [
      profile.matching_id,
    ]);
    return { endpoint, esim, profile };
  }

  async function expectAllReadable(
    target: TestService,
    { endpoint, esim, profile }: Awaited<ReturnType<typeof seedOldForm>>,
  ) {
    const replay = await call(target, 'POST', '/v1/webhook_endpoints', {
      body: endpoint.body,
      idempotencyKey: endpoint.idempotencyKey,
    });
    expect([replay.status, replay.text]).toEqual([201, endpoint.text]);
    expect((await install(esim.iccid, target)).json).toEqual(profile);
    const sender = target.startSender();
    const before = receivedAt('/old').length;
    await publish(target);
    await expect.poll(() => receivedAt('/old').length).toBeGreaterThan(before);
    expect(
      isSignedWith(endpoint.secret, receivedAt('/old')[before] as (typeof receiver.received)[number]),
    ).toBe(true);
    await sender.stop(5_000);
  }

  test('is readable until reseal rewrites it, and then refused even by processes already running', async () => {
    const seeded = await seedOldForm();
    const running = await startOther([newKey, oldKey]);
    await expectAllReadable(running, seeded);
    const result = await resealWith(newKey, oldKey);
    expect(result).toMatchObject({ isComplete: true, unreadableCount: 0 });
    expect(Object.fromEntries(result.resealed.map(({ column, count }) => [column, count]))).toMatchObject({
      signing_secrets: 1,
      stored_answers: 1,
      matching_ids_of_orders: 1,
      matching_ids_of_esims: 1,
    });
    expect(await everythingStored(service.db)).not.toContain(seeded.profile.matching_id);
    expect(await everythingStored(service.db)).not.toContain(`${keyIdOf(oldKey)}.`);
    expect(await findSealingState(service.db)).toMatchObject({ resealed_key_id: keyIdOf(newKey) });
    // No process needs the old key now.
    await expectAllReadable(await startOther([newKey]), seeded);

    // Values in the old form that are put back are refused.
    await sql('update esims set matching_id = $1', [seeded.profile.matching_id]);
    expect((await install(seeded.esim.iccid, running)).status).toBe(500);
    await sql('update idempotency_keys set body = $1 where key = $2', [
      sealUnbound(oldKey, seeded.endpoint.text),
      seeded.endpoint.idempotencyKey,
    ]);
    const { body, idempotencyKey } = seeded.endpoint;
    const replay = await call(running, 'POST', '/v1/webhook_endpoints', { body, idempotencyKey });
    expect(replay.status).toBe(500);
    // Another reseal does not accept them either.
    const again = await resealWith(newKey, oldKey);
    expect(again).toMatchObject({ unreadableCount: 2 });
    expect(again.unreadable.map(({ table }) => table).sort()).toEqual(['esims', 'idempotency_keys']);
  });

  test('stays readable if a value cannot be opened, and that value is named but not shown', async () => {
    const seeded = await seedOldForm();
    const lost = randomBytes(32);
    await sql('update webhook_secrets set sealed = $1', [sealUnbound(lost, seeded.endpoint.secret)]);
    const result = await resealWith(newKey, oldKey);
    expect(result).toMatchObject({
      isComplete: true,
      unreadableCount: 1,
      unreadable: [{ table: 'webhook_secrets', why: expect.stringContaining(keyIdOf(lost)) }],
    });
    expect(JSON.stringify(result)).not.toContain('whsec_');
    expect(await findSealingState(service.db)).toMatchObject({
      old_form_refused_at: null,
      resealed_key_id: null,
    });
  });

  test('is rewritten without waiting for locks: a locked row is left to a later pass', async () => {
    const seeded = await seedOldForm();
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let holding = Promise.resolve();
    await new Promise<void>((resolve, reject) => {
      holding = service.db.transaction(async (tx) => {
        await tx.query({ name: 'test_hold', text: 'select from webhook_secrets for update' });
        resolve();
        await released;
      });
      holding.catch(reject);
    });
    const resealing = resealWith(newKey, oldKey);
    await until(
      () => sql('select matching_id from esims'),
      ([row]) => row?.['matching_id']?.startsWith('v2.') === true,
    );
    expect(await sql('select sealed from webhook_secrets')).toMatchObject([
      { sealed: expect.stringContaining(`${keyIdOf(oldKey)}.`) },
    ]);
    release();
    await holding;
    expect(await resealing).toMatchObject({ isComplete: true, unreadableCount: 0 });
    await expectAllReadable(await startOther([newKey]), seeded);
  });

  test('is rewritten by two concurrent runs while orders run and secrets rotate', async () => {
    const { endpoint } = await seedOldForm();
    const other = await startOther([newKey, oldKey]);
    other.startWorker(mock);
    const orders = Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const target = n % 2 === 0 ? service : other;
        const body = { product_id: 'prod_europe_5gb_30d', confirmation_code: '4711' };
        if (n % 20 === 0)
          await call(other, 'POST', `/v1/webhook_endpoints/${endpoint.id}/rotate_secret`, { body: {} });
        return settled((await provision(target, undefined, body)).json.id, other);
      }),
    );
    const first = await Promise.all([resealWith(newKey, oldKey), resealWith(newKey, oldKey)]);
    for (const result of first) expect(result.unreadable).toEqual([]);
    const done = await orders;
    expect(done.every(({ status }) => status === 'succeeded')).toBe(true);
    // One service kept sealing with the old key; now that it is idle, the last run leaves nothing.
    expect(await resealWith(newKey, oldKey)).toMatchObject({ isComplete: true, unreadableCount: 0 });
    const last = await startOther([newKey]);
    for (const { iccid } of done) expect((await install(iccid, last)).status).toBe(200);
    expect(await everythingStored(service.db)).not.toContain(`${keyIdOf(oldKey)}.`);
  });
});

test('of two first starts with different keys at once, the second finds that it lacks the key of the first', async () => {
  await sql('delete from sealing_keys');
  let second: Promise<string[]> | undefined;
  await service.db.transaction(async (tx) => {
    await lockSealingKeys(tx);
    await recordSealingKey(tx, keyIdOf(oldKey));
    second = claimSealingKey(service.db, [newKey]);
    await untilLockIsAwaited(service);
  });
  expect(await second).toEqual([keyIdOf(oldKey)]);
  expect(await listSealingKeys(service.db)).toEqual([keyIdOf(oldKey)]);
});

test('reseal rewrites what another process encrypts between its last pass and its record', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    holding = service.db.transaction(async (tx) => {
      await lockSealingKeys(tx);
      resolve();
      await released;
    });
    holding.catch(reject);
  });
  const resealing = resealWith(newKey, oldKey);
  await until(
    () => sql(`select from pg_locks where relation = 'sealing_keys'::regclass and not granted`),
    ({ length }) => length > 0,
  );
  await createEndpoint('/late');
  release();
  await holding;
  expect(await resealing).toMatchObject({ isComplete: true, unreadableCount: 0 });
  expect(await everythingStored(service.db)).not.toContain(`${keyIdOf(oldKey)}.`);
  expect(await findSealingState(service.db)).toMatchObject({ resealed_key_id: keyIdOf(newKey) });
  expect(await listSealingKeys(service.db)).toEqual([keyIdOf(newKey)]);
});
