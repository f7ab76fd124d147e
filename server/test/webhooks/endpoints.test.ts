import { randomBytes, randomUUID } from 'node:crypto';
import { idPrefixes } from '@simplane/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uuidOfId } from '../../src/ids/uuid.ts';
import { createKeyring } from '../../src/secrets/keyring.ts';
import { cancelUndeliverable } from '../../src/webhooks/endpoints/cancel-undeliverable.ts';
import { disableEndpoint } from '../../src/webhooks/endpoints/disable.ts';
import { call, type Reply } from '../support/client.ts';
import { liveSecrets, type SecretRow } from '../support/live-secrets.ts';
import { startService, type TestService } from '../support/service.ts';

const path = '/v1/webhook_endpoints';
const day = 86_400_000;
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;
const keys = { old: randomBytes(32), new: randomBytes(32) };
// A name that never resolves: nothing here depends on the name server of whoever runs it.
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

/** A delivery that waits, as the fan-out of an event would have left it. */
async function addPending(id: string): Promise<void> {
  await service.db.query(
    {
      name: 'test_add_pending',
      text: `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, due_at, created_at)
             select account_id, uuid_v7(now()), uuid_v7(now()), id, 'pending', 'event', now(), now()
             from webhook_endpoints where id = $1`,
    },
    [uuidOf(id)],
  );
}

function deliveriesOf(id: string): Promise<{ status: string; is_finished: boolean }[]> {
  return service.db.query(
    {
      name: 'test_deliveries',
      text: 'select status, finished_at is not null as is_finished from deliveries where endpoint_id = $1',
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

/** Every value of every row, as text. */
async function dump(table: string): Promise<string> {
  const { rows } = await service.db.pool.query(`select t::text as row from ${table} t`);
  return rows.map(({ row }) => row).join('\n');
}

describe('creation', () => {
  test('answers 201 with the endpoint as it was sent, and a secret that verifiers take', async () => {
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
      status: 'enabled',
      disabled_at: null,
      secret: expect.stringMatching(secretForm),
      api_version: '2026-11-01',
      created: expect.any(Number),
    });
    expect(await secretsNow(json.id)).toEqual([json.secret]);
  });

  test('the secret is in the answers to creation and rotation only', async () => {
    const { json: made } = await create();
    const rotated = await call(target, 'POST', `${path}/${made.id}/rotate_secret`);
    expect(rotated.json.secret).toMatch(secretForm);
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

  test('a retry with the same key gets the same bytes, secret included, and makes nothing', async () => {
    const key = randomUUID();
    const [first, second] = [await create({}, key), await create({}, key)];
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('Idempotent-Replayed')).toBe('true');
    expect((await call(target, 'GET', path)).json.data).toHaveLength(1);
  });

  test('the same key for another request is refused, also for one that would not be valid', async () => {
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

  test('neither the secret nor the stored answer is in the database in the clear', async () => {
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

  test('no log line holds a secret', async () => {
    const { json } = await create();
    await call(target, 'GET', `${path}/${json.secret}`);
    await call(target, 'POST', path, { body: { url: json.secret, enabled_event_types: [json.secret] } });
    expect(service.logLines.length).toBeGreaterThan(0);
    expect(service.logLines.join('')).not.toContain(json.secret.slice('whsec_'.length, -1));
  });

  test.each([
    ['no URL', 'hooks'],
    ['another scheme', 'ftp://example.invalid/'],
    ['a metadata address', 'http://169.254.169.254/latest'],
    ['a metadata address spelt as a number', 'http://2852039166/'],
  ])('refuses %s by its parameter, and the key stays free', async (_, refused) => {
    const key = randomUUID();
    const { status, json } = await create({ url: refused }, key);
    expect([status, json.error.code, json.error.param]).toEqual([400, 'url_not_allowed', 'url']);
    expect((await create({}, key)).status).toBe(201);
  });

  test('"*" stands alone', async () => {
    const { status, json } = await create({ enabled_event_types: ['*', 'esim.provisioned'] });
    expect([status, json.error.code, json.error.param]).toEqual([
      400,
      'parameter_invalid',
      'enabled_event_types',
    ]);
  });
});

describe('the limit', () => {
  test('twenty creations at once make exactly as many as are allowed', async () => {
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
  test('the list is newest first, by pages, and shows the account its own only', async () => {
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

  test('another account’s endpoint, an unknown id and text that is no id are the same 404', async () => {
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
  test('changes what is given and leaves the rest; an empty body changes nothing', async () => {
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

  test('metadata is merged name by name; an empty value removes its name; twenty stay the most', async () => {
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

  test('a refused URL or type changes nothing of what came with it', async () => {
    const { json: made } = await create();
    const refused = await patch(made.id, { url: 'http://169.254.169.254/', description: 'x' });
    expect([refused.status, refused.json.error.code]).toEqual([400, 'url_not_allowed']);
    const types = await patch(made.id, { enabled_event_types: ['*', 'a'], status: 'disabled' });
    expect([types.status, types.json.error.param]).toEqual([400, 'enabled_event_types']);
    const { json } = await call(target, 'GET', `${path}/${made.id}`);
    expect([json.description, json.status]).toEqual([null, 'enabled']);
  });

  test('disabled by its owner: no reason is given, and what was pending is canceled', async () => {
    const { json: made } = await create();
    await addPending(made.id);
    const { json } = await patch(made.id, { status: 'disabled' });
    expect(json.status).toBe('disabled');
    expect(json.disabled_at).toEqual(expect.any(Number));
    expect(json).not.toHaveProperty('disabled_reason');
    expect(await deliveriesOf(made.id)).toEqual([{ status: 'canceled', is_finished: true }]);
    service.clock.advance(10_000);
    expect((await patch(made.id, { status: 'disabled' })).json).toEqual(json);
  });

  test('status "enabled" is the same as enable', async () => {
    const { json: made } = await create();
    await disableAutomatically(made.id);
    await markFailing(made.id);
    const { json } = await patch(made.id, { status: 'enabled', description: 'fixed' });
    expect(json).toMatchObject({ status: 'enabled', disabled_at: null, description: 'fixed' });
    expect(json).not.toHaveProperty('disabled_reason');
    expect(await healthOf(made.id)).toEqual({ failing_since: null, failure_count: 0 });
  });
});

describe('disabled automatically', () => {
  test('once: with its reason, nothing left pending, and an event that holds no token of the URL', async () => {
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
    // The account's other endpoint is told, the disabled one is not.
    expect(await deliveriesOf(other.id)).toEqual([{ status: 'pending', is_finished: false }]);
  });

  test('not when it has become well between the verdict and its execution', async () => {
    const { json: made } = await create();
    await markFailing(made.id);
    await call(target, 'POST', `${path}/${made.id}/enable`);
    expect(await disableNow(made.id, 'it kept failing')).toBe(false);
    expect((await call(target, 'GET', `${path}/${made.id}`)).json.status).toBe('enabled');
  });

  test('its owner’s "disabled" leaves the reason to be read', async () => {
    const { json: made } = await create();
    await disableAutomatically(made.id, 'it kept failing');
    expect((await patch(made.id, { status: 'disabled' })).json.disabled_reason).toBe('it kept failing');
  });

  test('enable clears the reason and counts failures anew, also when it is enabled already', async () => {
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

describe('what is pending for an endpoint that is disabled or gone', () => {
  async function isPending(id: string): Promise<boolean> {
    return (await deliveriesOf(id)).some(({ status }) => status === 'pending');
  }

  test('is canceled without a wait for a sender that is settling it, and later where that left it', async () => {
    const [disabled, deleted, enabled] = [
      (await create()).json.id,
      (await create()).json.id,
      (await create()).json.id,
    ];
    for (const id of [disabled, disabled, deleted, enabled]) await addPending(id);
    const settling = await service.db.pool.connect();
    try {
      await settling.query('begin');
      // As a sender does: first its deliveries, then their endpoint. It must not meet us the other way round.
      await settling.query('update deliveries set attempt_count = 1 where endpoint_id = any($1)', [
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

  test('a backlog beyond one batch does not hold up the answer, and is canceled in several', async () => {
    const { json: made } = await create();
    await service.db.pool.query(
      `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, due_at, created_at)
       select account_id, uuid_v7(now()), uuid_v7(now()), id, 'pending', 'event', now(), now()
       from webhook_endpoints, generate_series(1, 25000) where id = $1`,
      [uuidOf(made.id)],
    );
    expect((await patch(made.id, { status: 'disabled' })).status).toBe(200);
    expect(await isPending(made.id)).toBe(true);
    await cancelUndeliverable(service.db, service.clock);
    expect(await isPending(made.id)).toBe(false);
  });
});

describe('deletion', () => {
  test('answers once, then the endpoint is gone with its secrets, and what was pending is canceled', async () => {
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

  test('both sign for a day, newest first; then the new one alone', async () => {
    const { json: made } = await create();
    const second = await rotate(made.id);
    expect(await secretsNow(made.id)).toEqual([second, made.secret]);
    service.clock.advance(day - 1_000);
    expect(await secretsNow(made.id)).toEqual([second, made.secret]);
    service.clock.advance(1_000);
    expect(await secretsNow(made.id)).toEqual([second]);
  });

  test('the overlap is as asked; 0 ends every old one at once and forgets it', async () => {
    const { json: made } = await create();
    const second = await rotate(made.id, { expires_in: 60 });
    service.clock.advance(59_000);
    expect(await secretsNow(made.id)).toEqual([second, made.secret]);
    const third = await rotate(made.id);
    expect(await secretsNow(made.id)).toEqual([third, second, made.secret]);
    service.clock.advance(1_000); // a later rotation does not prolong an end that was set
    expect(await secretsNow(made.id)).toEqual([third, second]);
    const fourth = await rotate(made.id, { expires_in: 0 });
    expect(await secretsNow(made.id)).toEqual([fourth]);
    expect(await secretRows(made.id)).toHaveLength(1);
  });

  test('however often and however many at once, three live at most: the newest', async () => {
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
  test('a new key in front opens what the old one sealed, and seals what is new', async () => {
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

  test('without the old key nothing is made up: the replay fails, and says nothing of the reason', async () => {
    const key = randomUUID();
    await create({}, key);
    const forgetful = await startService({
      databaseUrl: service.databaseUrl,
      keyring: createKeyring([keys.new]),
    });
    try {
      const at = { url: forgetful.url, key: target.key };
      const reply = await call(at, 'POST', path, {
        idempotencyKey: key,
        body: { url, enabled_event_types: ['*'] },
      });
      expect([reply.status, reply.json.error.code]).toEqual([500, 'internal']);
      expect(reply.text).not.toContain('SIMPLANE_ENCRYPTION_KEYS');
      expect(forgetful.logLines.join('')).toContain('not, or no longer, in SIMPLANE_ENCRYPTION_KEYS');
    } finally {
      await forgetful.stop();
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
    ['a family of none', ['esim.*', 'bundle.*', 'nothing.*'], 'enabled_event_types[2]'],
    ['the name of a family', ['esim'], 'enabled_event_types[0]'],
    ['a family below a name', ['esim.provisioned.*'], 'enabled_event_types[0]'],
  ])('refuses %s that does not exist, by its place', async (_, types, param) => {
    const body = { url, enabled_event_types: types };
    const { status, json } = await call(live, 'POST', path, { body });
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
  });

  test.each([[['*']], [['esim.*']], [['esim.provisioned', 'webhook_endpoint.disabled']]])(
    'takes %j, at creation and in an update',
    async (types) => {
      const { status, json } = await call(live, 'POST', path, { body: { url, enabled_event_types: types } });
      expect([status, json.enabled_event_types]).toEqual([201, types]);
      const change = (names: string[]) =>
        call(live, 'PATCH', `${path}/${json.id}`, { body: { enabled_event_types: names } });
      expect((await change(types)).status).toBe(200);
      expect((await change(['esim.nope'])).json.error.param).toBe('enabled_event_types[0]');
    },
  );

  test('takes public https only', async () => {
    for (const refused of ['http://example.invalid/', 'https://127.0.0.1/', 'https://10.0.0.1/']) {
      const { json } = await call(live, 'POST', path, { body: { url: refused, enabled_event_types: ['*'] } });
      expect([json.error.code, json.error.param]).toEqual(['url_not_allowed', 'url']);
    }
  });
});
