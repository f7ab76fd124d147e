import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { checkKeySettings, requireOwnScopes } from './check-key-settings.ts';
import { defaultKeyName, type IssuedKey, issueKey, type KeyIssuer } from './issue-key.ts';
import { maxUsableKeys, requireRoomForKey } from './limit-keys.ts';
import { presentKey } from './present-key.ts';
import { lockAccount } from './sql/lock-account.ts';

type Body = InputOf<Operations['createApiKey']>['body'];

/** Before `runOnce`, so that a key with fewer scopes does not get the stored answer either. */
export async function createKey(ctx: WriteContext, { body }: { body: Body }): Promise<Outcome> {
  requireOwnScopes(ctx, body.scopes);
  const refusal = checkKeySettings(ctx, body);
  return runOnce(ctx, async (tx) => {
    if (refusal) throw refusal;
    const { row, key } = await addKey(tx, ctx, ctx.account.uuid, body);
    return ctx.render({ ...presentKey(row), key }, { isSecret: true });
  });
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
    expiresAt: expiresAt === null ? null : new Date(expiresAt * 1000),
  });
}
