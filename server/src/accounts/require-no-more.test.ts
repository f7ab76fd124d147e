import type { ApiKey } from '@simplane/contract';
import { expect, test } from 'vitest';
import type { Context } from './context.ts';
import { requireShownNoMore } from './require-no-more.ts';

/** A key that was made earlier is shown again to the key that the database has now, if any. */
function showAgain(maker: object | null, shown: object) {
  const rows =
    maker === null ? [] : [{ scopes: ['admin', 'read'], expires_at: null, allowed_cidrs: [], ...maker }];
  const ctx = { db: { query: async () => rows }, account: { uuid: 'a' }, apiKey: { uuid: 'k' } };
  const key = { scopes: ['read'], expires_at: null, allowed_cidrs: [], ...shown };
  return requireShownNoMore(ctx as unknown as Context, key as unknown as ApiKey);
}

test('a key is shown again only to one that could make it', async () => {
  await showAgain({}, {});
  await showAgain({ expires_at: new Date(5_000) }, { expires_at: 5 });
  const limited = { expires_at: new Date(4_999) };
  for (const later of [5, null]) {
    await expect(showAgain(limited, { expires_at: later })).rejects.toMatchObject({ param: 'expires_at' });
  }
});

test('a key is not shown again to one that is gone', async () => {
  await expect(showAgain(null, {})).rejects.toMatchObject({ code: 'scope_missing' });
});
