import type { InputFor } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import {
  checkKeySettings,
  maxUsableKeys,
  requireRoomForKey,
  requireTenantScopes,
} from './check-key-settings.ts';
import type { Context } from './context.ts';
import { defaultKeyName, type IssuedKey, issueKey, type KeyIssuer } from './issue-key.ts';
import { lockAccount } from './lock-account.ts';
import { presentKey, settingsOf } from './present-key.ts';
import { lockMaker, requireNoMore, requireShownNoMore } from './require-no-more.ts';
import type { ApiKeyRow } from './sql/keys.ts';

type Body = InputFor<'createApiKey'>['body'];

export const createApiKey = { write: createKey, beforeShownAgain: requireShownNoMore };

async function createKey(tx: Queryable, ctx: Context, { body }: { body: Body }) {
  const maker = await lockMaker(tx, ctx);
  requireTenantScopes(ctx.mode, body.scopes);
  checkKeySettings(ctx, body);
  const wanted = { ...settingsFrom(maker), ...body };
  requireNoMore(maker, { ...wanted, expires_at: dateOf(wanted.expires_at) });
  const { row, key } = await addKey(tx, ctx, ctx.account.uuid, wanted);
  return { body: { ...presentKey(row), key }, isSecret: true, changes: null };
}

/** What a new key inherits unless the request says otherwise. */
function settingsFrom(maker: ApiKeyRow) {
  const { allowed_cidrs, expires_at } = settingsOf(maker);
  return { allowed_cidrs, expires_at };
}

function dateOf(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(seconds * 1000);
}

export async function addKey(
  tx: Queryable,
  issuer: KeyIssuer,
  accountUuid: string,
  { name = defaultKeyName, scopes, allowed_cidrs: allowedCidrs = [], expires_at: expiresAt = null }: Body,
): Promise<IssuedKey> {
  await lockAccount(tx, accountUuid);
  await requireRoomForKey(tx, accountUuid, { now: new Date(issuer.clock.nowMs()), limit: maxUsableKeys });
  return issueKey(tx, issuer, {
    accountUuid,
    name,
    scopes,
    allowedCidrs,
    expiresAt: dateOf(expiresAt),
  });
}
