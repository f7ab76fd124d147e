import type { InputOf, Operations } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { WriteContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { checkKeySettings, requireOwnScopes } from './check-key-settings.ts';
import { defaultKeyName, type IssuedKey, issueKey, type KeyIssuer } from './issue-key.ts';
import { presentKey } from './present-key.ts';
import { countUsableKeys } from './sql/count-usable-keys.ts';
import { lockAccount } from './sql/lock-account.ts';

/**
 * The key directory keeps the 50,000 most recently used keys of all accounts, so one account must not take all of its room.
 */
const maxUsableKeys = 1_000;

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
  const { keys } = await countUsableKeys(tx, accountUuid, { now: new Date(issuer.clock.nowMs()) });
  if (keys >= maxUsableKeys) throw limitReached();
  return issueKey(tx, issuer, {
    accountUuid,
    name,
    scopes,
    allowedCidrs,
    expiresAt: expiresAt === null ? null : new Date(expiresAt * 1000),
  });
}

function limitReached(): AppError {
  return new AppError(
    'api_key_limit_reached',
    `The account has ${maxUsableKeys} usable API keys, which is the most. Revoke one that is no longer used.`,
  );
}
