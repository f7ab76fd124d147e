import { randomBytes, randomUUID } from 'node:crypto';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancelUndeliverable, disableEndpoint } from '../../src/notify/webhooks/endpoints/disable.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { createKeyring } from '../../src/platform/secrets/keyring.ts';
import { allDeliveries } from '../support/all-deliveries.ts';
import { call, type Reply } from '../support/client.ts';
import { liveSecrets, type SecretRow } from '../support/live-secrets.ts';
import { startService, type TestService } from '../support/service.ts';

const path = '/v1/webhook_endpoints';
const day = 86_400_000;
const secretPattern = /^whsec_[A-Za-z0-9+/]{43}=$/;
const keys = { old: randomBytes(32), new: randomBytes(32) };
// A name that never resolves, so the tests do not depend on the local DNS.
const url = 'https://example.invalid/hooks?tenant=7';

type Target = { url: string; key: string };

let service: TestService;
let target: Target;
beforeAll(async () => {
  service = await startService({ keyring: createKeyring([keys.old]), endpointLimit: 50 });
});
afterAll(() => service.stop());
beforeEach(async () => {
  target = { url: service.url, key: (await service.createAccount('Fresh')).key };
});

function create(body: object = {}, idempotencyKey: string = randomUUID()): Promise<Reply> {
  return call(target, 'POST', path, { idempotencyKey, body: { url, enabled_event_types: ['*'], ...body } });
}

function patch(id: string, body: object): Promise<Reply> {
  return call(target, 'PATCH', `${path}/${id}`, { body });
}

function uuidOf(id: string): string {
  return uuidOfId(idPrefixes.webhookEndpoint, id) as string;
}

function secretRows(id: string): Promise<SecretRow[]> {
  return service.db.query<SecretRow>(
    {
      name: 'test_secrets',
      text: `select account_id, endpoint_id, id, sealed, created_at, expires_at from webhook_secrets
             where endpoint_id = $1`,
    },
    [uuidOf(id)],
  );
}

async function secretsNow(id: string): Promise<string[]> {
  return liveSecrets(await secretRows(id), new Date(service.clock.nowMs()), service.service.keyring);
}

/** Adds a pending delivery, as the fan-out of an event would. */
async function addPending(id: string): Promise<void> {
  await service.db.query(
    {
      name: 'test_add_pending',
      text: `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
             select account_id, uuid_v7(now()), uuid_v7(now()), id, 'event', now()
             from webhook_endpoints where id = $1`,
    },
    [uuidOf(id)],
  );
}

function deliveriesOf(id: string): Promise<{ status: string; is_finished: boolean }[]> {
  return service.db.query(
    {
      name: 'test_deliveries',
      text: `select status, finished_at is not null as is_finished from ${allDeliveries} d where endpoint_id = $1`,
    },
    [uuidOf(id)],
  );
}

async function disableAutomatically(id: string, reason = '20 attempts failed'): Promise<boolean> {
  await markFailing(id);
  return disableNow(id, reason);
}

async function disableNow(id: string, reason: string): Promise<boolean> {
  const [row] = await service.db.query<{ account_id: string }>(
    { name: 'test_owner', text: 'select account_id from webhook_endpoints where id = $1' },
    [uuidOf(id)],
  );
  const accountUuid = row?.account_id as string;
  const at = new Date(service.clock.nowMs());
  return service.db.transaction((tx) =>
    disableEndpoint(tx, { accountUuid, endpointUuid: uuidOf(id), reason, at }, service.service),
  );
}

async function markFailing(id: string): Promise<void> {
  await service.db.query(
    {
      name: 'test_mark_failing',
      text: 'update webhook_endpoints set failing_since = now(), failure_count = 5 where id = $1',
    },
    [uuidOf(id)],
  );
}

async function healthOf(id: string) {
  const [row] = await service.db.query<{ failing_since: Date | null; failure_count: number }>(
    {
      name: 'test_health',
      text: 'select failing_since, failure_count from webhook_endpoints where id = $1',
    },
    [uuidOf(id)],
  );
  return row;
}

/** All rows as text. */
async function dump(table: string): Promise<string> {
  const { rows } = await service.db.pool.query(`select t::text as row from ${table} t`);
  return rows.map(({ row }) => row).join('\n');
}

describe('creation', () => {
  test('returns 201 with the endpoint as sent and a valid signing secret', async () => {
    const body = {
      enabled_event_types: ['esim.provisioned', 'bundle.*', 'my_own.event'],
      description: 'Mine',
      metadata: { team: 'a' },
    };
    const { status, json } = await create(body);
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^we_[0-9a-z]{26}$/),
      object: 'webhook_endpoint',
      url,
      ...body,
      ordering: 'none',
      status: 'enabled',
      disabled_at: null,
      failing_since: null,
      failure_count: 0,
      last_success_at: null,
      last_error: null,
      next_attempt_at: null,
      missed_count: 0,
      missed_since: null,
      secrets: [{ created: expect.any(Number), expires_at: null }],
      secret: expect.stringMatching(secretPattern),
      api_version: '2026-11-01',
      created: expect.any(Number),
    });
    expect(await secretsNow(json.id)).toEqual([json.secret]);
  });

  test('only the responses to creation and rotation contain the secret', async () => {
    const { json: made } = await create();
    const rotated = await call(target, 'POST', `${path}/${made.id}/rotate_secret`);
    expect(rotated.json.secret).toMatch(secretPattern);
    expect(rotated.json.secret).not.toBe(made.secret);
    const others = [
      await call(target, 'GET', `${path}/${made.id}`),
      await call(target, 'GET', path),
      await patch(made.id, { description: 'x' }),
      await call(target, 'POST', `${path}/${made.id}/enable`),
      await call(target, 'DELETE', `${path}/${made.id}`),
    ];
    for (const { status, text } of others) {
      expect(status).toBe(200);
      expect(text).not.toMatch(/whsec_|"secret"/);
    }
  });

  test('a retry with the same key gets the same bytes, including the secret, and creates nothing', async () => {
    const key = randomUUID();
    const [first, second] = [await create({}, key), await create({}, key)];
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await call(target, 'GET', path)).json.data).toHaveLength(1);
  });

  test('the same key for another request is refused, even for an invalid one', async () => {
    const key = randomUUID();
    await create({}, key);
    const codes = [
      await create({ description: 'other' }, key),
      await create({ url: 'ftp://example.invalid' }, key),
      await create({ enabled_event_types: [] }, key),
      await call(target, 'POST', '/v1/esims', {
        idempotencyKey: key,
        body: { product_id: 'prod_europe_5gb_30d' },
      }),
    ].map(({ json }) => json.error.code);
    expect(codes).toEqual(Array(4).fill('idempotency_key_reused'));
  });

  test('neither the secret nor the stored response is in the database in plain text', async () => {
    const { json: made } = await create();
    const rotated = await call(target, 'POST', `${path}/${made.id}/rotate_secret`, {
      idempotencyKey: randomUUID(),
    });
    const everything = `${await dump('webhook_secrets')}${await dump('idempotency_keys')}${await dump('webhook_endpoints')}`;
    expect(everything).toContain(url);
    for (const secret of [made.secret, rotated.json.secret] as string[]) {
      expect(everything).not.toContain(secret);
      expect(everything).not.toContain(secret.slice('whsec_'.length, -1));
    }
    expect(everything).not.toContain('whsec_');
    const stored = await dump('idempotency_keys');
    expect(stored).not.toContain(made.id);
  });

  test('no log line contains a secret', async () => {
    const { json } = await create();
    await call(target, 'GET', `${path}/${json.secret}`);
    await call(target, 'POST', path, { body: { url: json.secret, enabled_event_types: [json.secret] } });
    expect(service.logLines.length).toBeGreaterThan(0);
    expect(service.logLines.join('')).not.toContain(json.secret.slice('whsec_'.length, -1));
  });

  test.each([
    ['an invalid URL', 'hooks'],
    ['another scheme', 'ftp://example.invalid/'],
    ['a metadata address', 'http://169.254.169.254/latest'],
    ['a metadata address written as a number', 'http://2852039166/'],
  ])('refuses %s, names the parameter, and leaves the key unused', async (_, refused) => {
    const key = randomUUID();
    const { status, json } = await create({ url: refused }, key);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'url_not_allowed', 'url']);
    expect((await create({}, key)).status).toBe(201);
  });

  test('"*" cannot be combined with other types', async () => {
    const { status, json } = await create({ enabled_event_types: ['*', 'esim.provisioned'] });
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      'parameter_invalid',
      'enabled_event_types',
    ]);
  });
});

describe('the limit', () => {
  test('twenty concurrent creations make exactly as many endpoints as allowed', async () => {
    const limited = await startService({ databaseUrl: service.databaseUrl, endpointLimit: 7 });
    try {
      const at = { url: limited.url, key: target.key };
      const body = { url, enabled_event_types: ['*'] };
      const replies = await Promise.all(
        Array.from({ length: 20 }, () => call(at, 'POST', path, { body, idempotencyKey: randomUUID() })),
      );
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(7);
      const refused = replies.filter(({ status }) => status !== 201);
      expect(refused.map(({ status, json }) => `${status} ${json.error.code}`)).toEqual(
        Array(13).fill('409 endpoint_limit_reached'),
      );
      const listed = (await call(at, 'GET', `${path}?limit=100`)).json.data;
      expect(listed).toHaveLength(7);
      await call(at, 'DELETE', `${path}/${listed[0].id}`);
      expect((await call(at, 'POST', path, { body })).status).toBe(201);
    } finally {
      await limited.stop();
    }
  });
});

describe('reading', () => {
  test('the list is paginated, newest first, and contains only the account’s own endpoints', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift((await create()).json.id);
    const other = await service.createAccount('Other');
    await call({ ...target, key: other.key }, 'POST', path, { body: { url, enabled_event_types: ['*'] } });
    const seen: string[] = [];
    let cursor = '';
    do {
      const { json } = await call(target, 'GET', `${path}?limit=2${cursor && `&starting_after=${cursor}`}`);
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      cursor = json.next_cursor ?? '';
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  test('another account’s endpoint, an unknown id and a malformed id get the same 404', async () => {
    const { json } = await create();
    const other = await service.createAccount('Other');
    const foreign = { ...target, key: other.key };
    for (const id of [json.id, 'we_0000000000000000000000000f', 'we_%27', 'evt_x']) {
      const replies = [
        await call(foreign, 'GET', `${path}/${id}`),
        await call(foreign, 'PATCH', `${path}/${id}`, { body: { status: 'disabled' } }),
        await call(foreign, 'DELETE', `${path}/${id}`),
        await call(foreign, 'POST', `${path}/${id}/enable`),
        await call(foreign, 'POST', `${path}/${id}/rotate_secret`),
      ];
      expect(replies.map((reply) => `${reply.status} ${reply.json.error.code}`)).toEqual(
        Array(5).fill('404 resource_missing'),
      );
    }
    expect((await call(target, 'GET', `${path}/${json.id}`)).json.status).toBe('enabled');
    expect(await secretsNow(json.id)).toEqual([json.secret]);
  });
});

describe('update', () => {
  test('changes only the given fields; an empty body changes nothing', async () => {
    const { json: made } = await create({ description: 'before', metadata: { a: '1' } });
    const { secret: _, ...shown } = made;
    expect((await patch(made.id, {})).json).toEqual(shown);
    const moved = 'https://other.example.invalid/';
    expect((await patch(made.id, { url: moved })).json).toEqual({ ...shown, url: moved });
    const rest = { enabled_event_types: ['esim.*'], description: 'after' };
    const { status, json } = await patch(made.id, rest);
    expect(status).toBe(200);
    expect(json).toEqual({ ...shown, url: moved, ...rest });
    expect((await call(target, 'GET', `${path}/${made.id}`)).json).toEqual(json);
    expect(await secretsNow(made.id)).toEqual([made.secret]);
  });

  test('null clears the description and removes metadata, and what a response shows can be sent back', async () => {
    const { json: made } = await create({ description: null, metadata: { a: '1', b: null, c: '' } });
    expect([made.description, made.metadata]).toEqual([null, { a: '1' }]);
    await patch(made.id, { description: 'note', metadata: { b: '2' } });
    const cleared = await patch(made.id, { description: null, metadata: { a: null, unknown: null } });
    expect([cleared.json.description, cleared.json.metadata]).toEqual([null, { b: '2' }]);
    const { url, enabled_event_types, description, metadata, status } = cleared.json;
    const same = await patch(made.id, { url, enabled_event_types, description, metadata, status });
    expect(same.json).toEqual(cleared.json);
    const refused = await patch(made.id, { url: null });
    expect(refused.json.error).toMatchObject({ code: 'parameter_invalid', param: 'url' });
  });

  test('metadata is merged by name; an empty value removes an entry; the limit is twenty', async () => {
    const { json: made } = await create({ metadata: { a: '1', b: '2' } });
    expect((await patch(made.id, { metadata: { b: '', c: '3' } })).json.metadata).toEqual({ a: '1', c: '3' });
    const many = Object.fromEntries(Array.from({ length: 19 }, (_, i) => [`n${i}`, 'x']));
    const refused = await patch(made.id, { metadata: many });
    expect([refused.status, refused.json.error.code, refused.json.error.param]).toEqual([
      400,
      'parameter_invalid',
      'metadata',
    ]);
    expect((await call(target, 'GET', `${path}/${made.id}`)).json.metadata).toEqual({ a: '1', c: '3' });
  });

  test('a refused URL or type leaves the other fields unchanged', async () => {
    const { json: made } = await create();
    const refused = await patch(made.id, { url: 'http://169.254.169.254/', description: 'x' });
    expect([refused.status, refused.json.error.code]).toEqual([400, 'url_not_allowed']);
    const types = await patch(made.id, { enabled_event_types: ['*', 'a'], status: 'disabled' });
    expect([types.status, types.json.error.param]).toEqual([400, 'enabled_event_types']);
    const { json } = await call(target, 'GET', `${path}/${made.id}`);
    expect([json.description, json.status]).toEqual([null, 'enabled']);
  });

  test('disabling by the owner sets no reason and cancels pending deliveries', async () => {
    const { json: made } = await create();
    await addPending(made.id);
    await service.db.pool.query('update delivery_queue set attempt_count = 1 where endpoint_id = $1', [
      uuidOf(made.id),
    ]);
    await addPending(made.id);
    const { json } = await patch(made.id, { status: 'disabled' });
    expect(json.status).toBe('disabled');
    expect(json.disabled_at).toEqual(expect.any(Number));
    expect(json).not.toHaveProperty('disabled_reason');
    expect(await deliveriesOf(made.id)).toEqual(Array(2).fill({ status: 'canceled', is_finished: true }));
    service.clock.advance(10_000);
    expect((await patch(made.id, { status: 'disabled' })).json).toEqual(json);
  });

  test('status "enabled" works like enable', async () => {
    const { json: made } = await create();
    await disableAutomatically(made.id);
    await markFailing(made.id);
    const { json } = await patch(made.id, { status: 'enabled', description: 'fixed' });
    expect(json).toMatchObject({ status: 'enabled', disabled_at: null, description: 'fixed' });
    expect(json).not.toHaveProperty('disabled_reason');
    expect(await healthOf(made.id)).toEqual({ failing_since: null, failure_count: 0 });
  });
});

describe('automatic disabling', () => {
  test('happens once, sets the reason, cancels pending deliveries and emits an event without the URL’s token', async () => {
    const { json: made } = await create({ url: 'https://example.invalid/hooks/7?token=hush#part' });
    const { json: other } = await create();
    await addPending(made.id);
    expect(await disableAutomatically(made.id, '20 attempts failed since then')).toBe(true);
    expect(await disableAutomatically(made.id, 'again')).toBe(false);
    const { json } = await call(target, 'GET', `${path}/${made.id}`);
    expect(json).toMatchObject({
      status: 'disabled',
      disabled_reason: '20 attempts failed since then',
      disabled_at: expect.any(Number),
    });
    expect(await deliveriesOf(made.id)).toEqual([{ status: 'canceled', is_finished: true }]);
    const events = (await call(target, 'GET', '/v1/events?type=webhook_endpoint.disabled')).json.data;
    expect(events.map(({ data }: { data: object }) => data)).toEqual([
      {
        webhook_endpoint_id: made.id,
        url: 'https://example.invalid/hooks/7',
        disabled_reason: '20 attempts failed since then',
      },
    ]);
    // Only the account's other endpoint gets the event.
    expect(await deliveriesOf(other.id)).toEqual([{ status: 'pending', is_finished: false }]);
  });

  test('does not happen if the endpoint was enabled after the decision', async () => {
    const { json: made } = await create();
    await markFailing(made.id);
    await call(target, 'POST', `${path}/${made.id}/enable`);
    expect(await disableNow(made.id, 'it kept failing')).toBe(false);
    expect((await call(target, 'GET', `${path}/${made.id}`)).json.status).toBe('enabled');
  });

  test('keeps its reason if the owner then sets "disabled"', async () => {
    const { json: made } = await create();
    await disableAutomatically(made.id, 'it kept failing');
    expect((await patch(made.id, { status: 'disabled' })).json.disabled_reason).toBe('it kept failing');
  });

  test('is undone by enable, which resets the failure count even if already enabled', async () => {
    const { json: made } = await create();
    const { secret: _, ...shown } = made;
    await disableAutomatically(made.id);
    for (let i = 0; i < 2; i++) {
      await markFailing(made.id);
      const { status, json } = await call(target, 'POST', `${path}/${made.id}/enable`);
      expect(status).toBe(200);
      expect(json).toEqual(shown);
      expect(await healthOf(made.id)).toEqual({ failing_since: null, failure_count: 0 });
    }
  });
});

describe('pending deliveries of a disabled or deleted endpoint', () => {
  async function isPending(id: string): Promise<boolean> {
    return (await deliveriesOf(id)).some(({ status }) => status === 'pending');
  }

  test('are canceled without waiting for a sender that is settling them; the rest follows later', async () => {
    const [disabled, deleted, enabled] = [
      (await create()).json.id,
      (await create()).json.id,
      (await create()).json.id,
    ];
    for (const id of [disabled, disabled, deleted, enabled]) await addPending(id);
    const settling = await service.db.pool.connect();
    try {
      await settling.query('begin');
      // Locks like a sender: deliveries first, then their endpoint. The opposite order would deadlock.
      await settling.query('update delivery_queue set attempt_count = 1 where endpoint_id = any($1)', [
        [uuidOf(disabled), uuidOf(deleted)],
      ]);
      await addPending(disabled);
      expect((await patch(disabled, { status: 'disabled' })).status).toBe(200);
      expect((await call(target, 'DELETE', `${path}/${deleted}`)).status).toBe(200);
      await settling.query('update webhook_endpoints set failure_count = 1 where id = $1', [
        uuidOf(disabled),
      ]);
      await settling.query('commit');
    } finally {
      settling.release();
    }
    expect((await deliveriesOf(disabled)).map(({ status }) => status).sort()).toEqual([
      'canceled',
      'pending',
      'pending',
    ]);
    await cancelUndeliverable(service.db, service.clock);
    expect([await isPending(disabled), await isPending(deleted)]).toEqual([false, false]);
    expect(await deliveriesOf(enabled)).toEqual([{ status: 'pending', is_finished: false }]);
  });

  test('beyond one batch do not delay the response and are canceled in several batches', async () => {
    const { json: made } = await create();
    await service.db.pool.query(
      `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
       select account_id, uuid_v7(now()), uuid_v7(now()), id, 'event', now()
       from webhook_endpoints, generate_series(1, 2500) where id = $1`,
      [uuidOf(made.id)],
    );
    expect((await patch(made.id, { status: 'disabled' })).status).toBe(200);
    expect(await isPending(made.id)).toBe(true);
    await cancelUndeliverable(service.db, service.clock);
    expect(await isPending(made.id)).toBe(false);
  });
});

describe('deletion', () => {
  test('removes the endpoint and its secrets, cancels pending deliveries, and then returns 404', async () => {
    const { json: made } = await create();
    await addPending(made.id);
    const { status, json } = await call(target, 'DELETE', `${path}/${made.id}`, { idempotencyKey: 'gone' });
    expect(status).toBe(200);
    expect(json).toEqual({ id: made.id, object: 'webhook_endpoint', deleted: true });
    expect((await call(target, 'GET', `${path}/${made.id}`)).status).toBe(404);
    expect((await call(target, 'DELETE', `${path}/${made.id}`)).status).toBe(404);
    const again = await call(target, 'DELETE', `${path}/${made.id}`, { idempotencyKey: 'gone' });
    expect([again.status, again.json]).toEqual([200, json]);
    expect(await secretRows(made.id)).toEqual([]);
    expect(await deliveriesOf(made.id)).toEqual([{ status: 'canceled', is_finished: true }]);
  });
});

describe('rotation of a signing secret', () => {
  async function rotate(id: string, body?: object): Promise<string> {
    const reply = await call(target, 'POST', `${path}/${id}/rotate_secret`, { ...(body && { body }) });
    expect(reply.status).toBe(200);
    return reply.json.secret;
  }

  test('both secrets sign for a day, newest first; then only the new one', async () => {
    const { json: made } = await create();
    const second = await rotate(made.id);
    expect(await secretsNow(made.id)).toEqual([second, made.secret]);
    service.clock.advance(day - 1_000);
    expect(await secretsNow(made.id)).toEqual([second, made.secret]);
    service.clock.advance(1_000);
    expect(await secretsNow(made.id)).toEqual([second]);
  });

  test('the overlap follows expires_in; 0 ends and deletes every old secret immediately', async () => {
    const { json: made } = await create();
    const second = await rotate(made.id, { expires_in: 60 });
    service.clock.advance(59_000);
    expect(await secretsNow(made.id)).toEqual([second, made.secret]);
    const third = await rotate(made.id);
    expect(await secretsNow(made.id)).toEqual([third, second, made.secret]);
    service.clock.advance(1_000); // a later rotation does not extend an expiry
    expect(await secretsNow(made.id)).toEqual([third, second]);
    const fourth = await rotate(made.id, { expires_in: 0 });
    expect(await secretsNow(made.id)).toEqual([fourth]);
    expect(await secretRows(made.id)).toHaveLength(1);
  });

  test('at most the newest three secrets are live, even after concurrent rotations', async () => {
    const { json: made } = await create();
    const secrets = [made.secret as string];
    for (let i = 0; i < 5; i++) secrets.unshift(await rotate(made.id));
    expect(await secretsNow(made.id)).toEqual(secrets.slice(0, 3));
    const more = await Promise.all(Array.from({ length: 10 }, () => rotate(made.id)));
    const live = await secretsNow(made.id);
    expect(live).toHaveLength(3);
    expect(more).toEqual(expect.arrayContaining(live));
    const current = (await secretRows(made.id)).filter(({ expires_at }) => expires_at === null);
    expect(current).toHaveLength(1);
  });

  test('a retry gets the same new secret', async () => {
    const { json: made } = await create();
    const request = { idempotencyKey: randomUUID(), body: { expires_in: 5 } };
    const first = await call(target, 'POST', `${path}/${made.id}/rotate_secret`, request);
    const second = await call(target, 'POST', `${path}/${made.id}/rotate_secret`, request);
    expect(second.text).toBe(first.text);
    expect(await secretsNow(made.id)).toEqual([first.json.secret, made.secret]);
  });
});

describe('rotation of the encryption keys', () => {
  test('with a new first key old secrets still open, and new ones are sealed with it', async () => {
    const key = randomUUID();
    const made = await create({}, key);
    const keyring = createKeyring([keys.new, keys.old]);
    const rotated = await startService({ databaseUrl: service.databaseUrl, keyring });
    try {
      const at = { url: rotated.url, key: target.key };
      const body = { url, enabled_event_types: ['*'] };
      const replay = await call(at, 'POST', path, { idempotencyKey: key, body });
      expect([replay.status, replay.text]).toEqual([201, made.text]);
      const now = new Date(rotated.clock.nowMs());
      expect(await liveSecrets(await secretRows(made.json.id), now, keyring)).toEqual([made.json.secret]);
      const fresh = await call(at, 'POST', path, { body });
      const rows = await secretRows(fresh.json.id);
      expect(await liveSecrets(rows, now, createKeyring([keys.new]))).toEqual([fresh.json.secret]);
    } finally {
      await rotated.stop();
    }
  });

  test('without the old key the replay fails, and the response does not reveal the reason', async () => {
    const key = randomUUID();
    await create({}, key);
    const withoutOldKey = await startService({
      databaseUrl: service.databaseUrl,
      keyring: createKeyring([keys.new]),
    });
    try {
      const at = { url: withoutOldKey.url, key: target.key };
      const reply = await call(at, 'POST', path, {
        idempotencyKey: key,
        body: { url, enabled_event_types: ['*'] },
      });
      expect([reply.status, reply.json.error.code]).toEqual([500, 'internal']);
      expect(reply.text).not.toContain('SIMPLANE_ENCRYPTION_KEYS');
      expect(withoutOldKey.logLines.join('')).toContain('that key is not in SIMPLANE_ENCRYPTION_KEYS');
    } finally {
      await withoutOldKey.stop();
    }
  });
});

describe('live mode', () => {
  let live: TestService;
  beforeAll(async () => {
    live = await startService({
      mode: 'live',
      addressPolicy: { allowsHttp: false, allowsPrivate: false, allowedCidrs: [] },
    });
  });
  afterAll(() => live.stop());

  test.each([
    ['a name', ['esim.provisioned', 'esim.proviisoned'], 'enabled_event_types[1]'],
    ['a family', ['*.x', 'nothing.*'], 'enabled_event_types[0]'],
    ['a family without events', ['esim.*', 'bundle.*', 'nothing.*'], 'enabled_event_types[2]'],
    ['the name of a family', ['esim'], 'enabled_event_types[0]'],
    ['a family below a name', ['esim.provisioned.*'], 'enabled_event_types[0]'],
  ])('refuses %s that does not exist and names its index', async (_, types, param) => {
    const body = { url, enabled_event_types: types };
    const { status, json } = await call(live, 'POST', path, { body });
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
  });

  test.each([[['*']], [['esim.*']], [['esim.provisioned', 'webhook_endpoint.disabled']]])(
    'accepts %j at creation and in an update',
    async (types) => {
      const { status, json } = await call(live, 'POST', path, { body: { url, enabled_event_types: types } });
      expect([status, json.enabled_event_types]).toEqual([201, types]);
      const change = (names: string[]) =>
        call(live, 'PATCH', `${path}/${json.id}`, { body: { enabled_event_types: names } });
      expect((await change(types)).status).toBe(200);
      expect((await change(['esim.nope'])).json.error.param).toBe('enabled_event_types[0]');
    },
  );

  test('accepts only public https URLs', async () => {
    for (const refused of ['http://example.invalid/', 'https://127.0.0.1/', 'https://10.0.0.1/']) {
      const { json } = await call(live, 'POST', path, { body: { url: refused, enabled_event_types: ['*'] } });
      expect([json.error.code, json.error.param]).toEqual(['url_not_allowed', 'url']);
    }
  });
});
