import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateApiKey, hexHashOf } from '../../src/accounts/api-key-text.ts';
import { createKeyDirectory } from '../../src/accounts/key-directory.ts';
import { call, type Reply } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

const perSecond = 2;
const burst = 10;

let service: TestService;
let lookUps: { hashes: number }[];
beforeEach(async () => {
  service = await startService({ unknownKeysPerSecond: perSecond });
  lookUps = countLookUps(service);
});
afterEach(() => service.stop());

/** Records each key look-up statement and how many keys it asks for. */
function countLookUps({ db }: TestService) {
  const seen: { hashes: number }[] = [];
  const { query } = db;
  db.query = (statement, values) => {
    const [hashes] = (values ?? []) as string[][];
    if (statement.name === 'api_keys_find') seen.push({ hashes: hashes?.length ?? 0 });
    return query(statement, values);
  };
  return seen;
}

const me = (key: string): Promise<Reply> => call(service, 'GET', '/v1/me', { key });
const together = <T>(count: number, make: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => make(i)));
/** Sends wrong keys until the address is rate limited. */
async function exhaust(send: (key: string) => Promise<Reply>): Promise<void> {
  for (;;) {
    const replies = await together(20, () => send(generateApiKey('sandbox')));
    if (replies.some(({ status }) => status === 429)) return;
  }
}
const lookedUp = () => lookUps.reduce((sum, { hashes }) => sum + hashes, 0);

describe('an unknown key', () => {
  test('is looked up about once a second, however often it is sent', async () => {
    const wrong = generateApiKey('sandbox');
    const startedAtMs = performance.now();
    for (let i = 0; i < 4; i++) {
      const replies = await together(50, () => me(wrong));
      expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    }
    const seconds = (performance.now() - startedAtMs) / 1_000;
    expect(lookedUp()).toBeLessThanOrEqual(1 + Math.ceil(seconds));
  });

  test('works a second after it was issued, even if it was tried before', async () => {
    let nowMs = 0;
    const keys = createKeyDirectory(service.db, () => nowMs);
    expect(await keys.lookUp('ab')).toBeNull();
    expect(keys.recall('ab')).toBeNull();
    nowMs += 1_000;
    expect(keys.recall('ab')).toBeUndefined();
  });

  test('sent in hundreds of variants is rate limited by address, and look-ups do not grow with requests', async () => {
    const startedAtMs = performance.now();
    const replies = (
      await together(20, async () => {
        const own: Reply[] = [];
        for (let i = 0; i < 15; i++) own.push(await me(generateApiKey('sandbox')));
        return own;
      })
    ).flat();
    const seconds = (performance.now() - startedAtMs) / 1_000;
    const refused = replies.filter(({ status }) => status === 429);
    expect(replies.length - refused.length).toBe(replies.filter(({ status }) => status === 401).length);
    expect(lookedUp()).toBeLessThanOrEqual(burst + Math.ceil(seconds * perSecond));
    expect(lookedUp()).toBe(replies.length - refused.length);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.json.error.code).toBe('rate_limited');
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
    expect(refused[0]?.headers.get('ratelimit-policy')).toBe(`"address";q=${burst};w=5`);
  });

  test('does not block known keys from the same address, even when they must be looked up again', async () => {
    const good = await service.createKey();
    const idle = await service.createKey();
    let nowMs = 0;
    const keys = createKeyDirectory(service.db, () => nowMs);
    const own = await startService({
      unknownKeysPerSecond: perSecond,
      databaseUrl: service.databaseUrl,
      keys,
    });
    try {
      const at = (key: string) => call(own, 'GET', '/v1/me', { key });
      expect([(await at(good)).status, (await at(idle)).status]).toEqual([200, 200]);
      await exhaust(at);
      nowMs += 3_600_000; // cached entries are stale now and must be looked up again
      expect([(await at(good)).status, (await at(idle)).status]).toEqual([200, 200]);
    } finally {
      await own.stop();
    }
  });

  test('does not block keys that existed when the process started, even unused ones', async () => {
    const unseen = await service.createKey();
    await service.service.keys.learn(service.clock.nowMs());
    await exhaust(me);
    expect((await me(unseen)).status).toBe(200);
  });

  test('does not block newer keys once they are learned', async () => {
    // Fewer than one key at a time, so none is ever looked up.
    const strict = await startService({ unknownKeysPerSecond: 0.1, databaseUrl: service.databaseUrl });
    try {
      const { keys } = strict.service;
      await keys.learn(strict.clock.nowMs());
      const made = await strict.createKey();
      const at = () => call(strict, 'GET', '/v1/me', { key: made });
      expect(keys.recall(hexHashOf(made))).toBeUndefined();
      expect((await at()).status).toBe(429);
      await keys.learn(strict.clock.nowMs());
      expect((await at()).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });

  test('does not block a newer key whose creator’s clock is minutes behind', async () => {
    const { keys } = service.service;
    const nowMs = service.clock.nowMs();
    await keys.learn(nowMs + 300_000);
    const late = await service.createKey();
    await keys.learn(nowMs + 301_000);
    expect(keys.recall(hexHashOf(late))).not.toBeUndefined();
  });

  test('is learned only while it works: a newer one that was revoked or has expired stays unknown', async () => {
    const keys = createKeyDirectory(service.db);
    const nowMs = service.clock.nowMs();
    await keys.learn(nowMs);
    const [works, revoked] = [await service.createKey(), await service.createKey()];
    const expired = await service.createKey({ expiresAt: new Date(nowMs) });
    const revoke = 'update api_keys set revoked_at = now() where account_id = $1 and last4 = $2';
    await service.db.pool.query(revoke, [service.accountUuid, revoked.slice(-4)]);
    await keys.learn(nowMs);
    const isKnown = (key: string) => keys.recall(hexHashOf(key)) !== undefined;
    expect([works, revoked, expired].map(isKnown)).toEqual([true, false, false]);
  });

  test('that turns out to be valid does not count against its address', async () => {
    const good = await together(burst + 20, () => service.createKey());
    for (const key of good) expect((await me(key)).status).toBe(200);
  });

  test('whose look-up failed does not count against its address, and is looked up again at once', async () => {
    const keys = createKeyDirectory(service.db);
    const { query } = service.db;
    const good = await together(burst + 20, () => service.createKey());
    service.db.query = (statement, values) =>
      statement.name === 'api_keys_find' ? Promise.reject(new Error('away')) : query(statement, values);
    for (const key of good) expect((await me(key)).status).toBe(500);
    await expect(keys.lookUp('ab')).rejects.toThrow('away');
    expect(keys.recall('ab')).toBeUndefined();
    service.db.query = query;
    for (const key of good) expect((await me(key)).status).toBe(200);
  });

  test('that arrives during a look-up shares the next one with others', async () => {
    const keys = createKeyDirectory(service.db);
    const found = await together(300, (i) => keys.lookUp(hexHashOf(`unknown ${i}`)));
    expect(found).toEqual(found.map(() => null));
    expect(lookedUp()).toBe(300);
    expect(lookUps.length).toBeLessThan(10);
  });
});

describe('with more keys than the cache holds', () => {
  test('the least recently used key is evicted, and expired keys are not learned', async () => {
    const cacheSize = 50_000;
    const hashOf = (n: number) => createHash('sha256').update(String(n)).digest('hex');
    const startOf2026 = new Date('2026-01-01T00:00:00Z');
    await service.db.query(
      {
        name: 'test_many_keys',
        text: `insert into api_keys (id, account_id, hash, name, scopes, last4, created_at, last_used_at)
               select gen_random_uuid(), $1, sha256(convert_to(n::text, 'UTF8')), 'Test', '{}', '0000', $2,
                      $2::timestamptz + n * interval '1 second'
               from generate_series(1, $3::int) n`,
      },
      [service.accountUuid, startOf2026, cacheSize],
    );
    const nowMs = service.clock.nowMs();
    const expired = await service.createKey({ expiresAt: new Date(nowMs - 1) });
    await service.db.query(
      { name: 'test_used', text: 'update api_keys set last_used_at = $1 where last4 = $2' },
      [new Date(nowMs), expired.slice(-4)],
    );
    const keys = createKeyDirectory(service.db);
    await keys.learn(nowMs);
    expect(keys.recall(hexHashOf(expired))).toBeUndefined();

    expect(await keys.recall(hashOf(1))).toMatchObject({ revoked: false }); // next to be evicted, but now used
    for (let i = 0; i < 2; i++) await keys.lookUp(hexHashOf(await service.createKey()));
    expect(keys.recall(hashOf(2))).toBeUndefined();
    expect(keys.recall(hashOf(3))).toBeUndefined();
    expect(await keys.recall(hashOf(1))).toMatchObject({ revoked: false });
    expect(await keys.recall(hashOf(cacheSize))).toMatchObject({ revoked: false });
  });
});
