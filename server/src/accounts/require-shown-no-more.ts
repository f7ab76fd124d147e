import type { ApiKey } from '@simplane/contract';
import type { Context } from './context.ts';
import { requireNoMore } from './require-no-more.ts';
import { findKeyRow } from './sql/keys.ts';

/** A repeated request shows a new key again. A key that could not have made it does not get it, although it repeats the request. */
export async function requireShownNoMore(ctx: Context, shown: ApiKey): Promise<void> {
  const maker = await findKeyRow(ctx.db, { accountUuid: ctx.account.uuid, keyUuid: ctx.apiKey.uuid });
  const expiresAt = shown.expires_at === null ? null : new Date(shown.expires_at * 1000);
  requireNoMore(maker ?? noPowers, { ...shown, expires_at: expiresAt });
}

const noPowers = { scopes: [], expires_at: null, allowed_cidrs: [] };
