import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hexHashOf } from '../../accounts/api-key-text.ts';
import type { KnownKey } from '../../accounts/key-directory.ts';
import { createOpenKeys } from './open-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const request = (more: object = {}) =>
  ({ headers: { authorization: 'Bearer one' }, session: null, ip: '', ...more }) as unknown as FastifyRequest;

/** The readers of a key or a session that is looked up like this; tells how many were ended. */
function startReader(deps: object, given = request()) {
  const state = { ended: 0 };
  const clock = { nowMs: () => 1_000 };
  const open = createOpenKeys({ db: {}, clock, ...deps } as Parameters<typeof createOpenKeys>[0]);
  const end = () => {
    state.ended += 1;
  };
  open.add(given, { end });
  return { state, stop: () => open.stop() };
}

const keyThat = (more: object) =>
  ({ revoked: false, account: null, expiresAtMs: null, allowedCidrs: [], ...more }) as unknown as KnownKey;

test.each([
  ['works', keyThat({}), 0],
  ['ends later', keyThat({ expiresAtMs: 1_001 }), 0],
  ['ends now', keyThat({ expiresAtMs: 1_000 }), 1],
  ['does not exist', null, 1],
])('a reader whose key %s is ended or not', async (_, key, count) => {
  const { state, stop } = startReader({ keys: { recall: () => undefined, lookUp: async () => key } });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(state.ended).toBe(count);
  stop();
});

test('while the database is away, the readers of keys and sessions go on', async () => {
  const away = () => Promise.reject(new Error('away'));
  const ofKey = startReader({ keys: { recall: () => undefined, lookUp: away } });
  const session = { hash: Buffer.alloc(32), keyHash: 'a' };
  const keys = { recall: () => keyThat({}) };
  const ofSession = startReader({ keys, db: { query: away } }, request({ session }));
  await vi.advanceTimersByTimeAsync(4_000);
  expect([ofKey.state.ended, ofSession.state.ended]).toEqual([0, 0]);
  for (const { stop } of [ofKey, ofSession]) stop();
});

test('a key is looked up for as long as it has open readers, and no longer', async () => {
  const looks: string[] = [];
  const known = { revoked: false, account: null, expiresAtMs: null, allowedCidrs: [] } as unknown as KnownKey;
  const keys = {
    recall(hash: string) {
      looks.push(hash);
      return known;
    },
  };
  const deps = { db: {}, keys, clock: { nowMs: () => 0 } } as unknown as Parameters<typeof createOpenKeys>[0];
  const open = createOpenKeys(deps);
  const forget = open.add(request(), { end() {} });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(looks).toEqual([hexHashOf('one'), hexHashOf('one')]);
  forget();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(looks).toHaveLength(2);
  open.stop();
});
