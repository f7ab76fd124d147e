import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hexHashOf } from '../../accounts/api-key-text.ts';
import type { KnownKey } from '../../accounts/key-directory.ts';
import { createOpenKeys } from './open-keys.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

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
  const request = { headers: { authorization: 'Bearer one' }, session: null, ip: '' };
  const forget = open.add(request as unknown as FastifyRequest, { end() {} });
  await vi.advanceTimersByTimeAsync(4_000);
  expect(looks).toEqual([hexHashOf('one'), hexHashOf('one')]);
  forget();
  await vi.advanceTimersByTimeAsync(4_000);
  expect(looks).toHaveLength(2);
  open.stop();
});
