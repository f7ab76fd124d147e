import { type InputFor, idPrefixes, rollOverlap } from '@simplane/contract';
import { noSuch } from '../platform/app-error.ts';
import { unixSeconds } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { recordAudit } from './audit/record.ts';
import { maxUsableKeysWithRolled, requireRoomForKey, requireTenantScopes } from './check-key-settings.ts';
import type { Context } from './context.ts';
import { requireKeysChangeable } from './get-account.ts';
import { keyIdOf } from './get-key.ts';
import { type IssuedKey, insertNewKey, type KeyIssuer } from './issue-key.ts';
import { requireNotRolled, requireUsable } from './key-state.ts';
import { presentKey } from './present-key.ts';
import { lockMaker, requireNoMore, requireShownNoMore } from './require-no-more.ts';
import { type ApiKeyRow, lockKey, saveKey } from './sql/keys.ts';

/** `POST /v1/api_keys/{id}/roll`. The answer is the new key, shown once. */
export const rollApiKey = { write: rollKey, beforeShownAgain: requireShownNoMore };

async function rollKey(tx: Queryable, ctx: Context, { params, body }: InputFor<'rollApiKey'>) {
  const row = await lockKey(tx, keyIdOf(ctx.account.uuid, params.id));
  if (!row) throw noSuch('API key', params.id);
  const maker = await lockMaker(tx, ctx);
  requireNoMore(maker, row);
  requireTenantScopes(ctx.mode, row.scopes);
  const options = { overlapSeconds: body.expires_in, latest: maker.expires_at };
  const { row: successor, key } = await replaceKey(tx, ctx, row, options);
  return { body: { ...presentKey(successor), key }, isSecret: true, changes: null };
}

type Options = {
  overlapSeconds?: number | undefined;
  /** The new key expires no later. */
  latest?: Date | null;
};

/** Both keys work until the overlap ends, or until the old one's own expiry. The caller has locked the old one. */
export async function replaceKey(
  tx: Queryable,
  issuer: KeyIssuer,
  row: ApiKeyRow,
  { overlapSeconds = rollOverlap.default, latest = null }: Options,
): Promise<IssuedKey> {
  await requireKeysChangeable(tx, row.account_id);
  const nowMs = issuer.clock.nowMs();
  const now = new Date(nowMs);
  requireUsable(row, now);
  requireNotRolled(row);
  // Each successor can be rolled too, so without a limit one key could become any number of them.
  if (row.account_id !== null)
    await requireRoomForKey(tx, row.account_id, { now, limit: maxUsableKeysWithRolled });
  const issued = await insertNewKey(tx, issuer, {
    accountUuid: row.account_id,
    name: row.name,
    scopes: row.scopes,
    allowedCidrs: row.allowed_cidrs,
    expiresAt: earlierOf(sameLifetime(row, nowMs), latest),
  });
  const overlapEndMs = nowMs + overlapSeconds * 1000;
  const expiresAt = new Date(Math.min(row.expires_at?.getTime() ?? overlapEndMs, overlapEndMs));
  await saveKey(tx, { ...row, expires_at: expiresAt, replaced_by: issued.row.id });
  await recordAudit(tx, issuer, {
    accountUuid: row.account_id,
    action: 'api_key.rolled',
    target: { type: 'api_key', id: idOfUuid(idPrefixes.apiKey, row.id) },
    changes: {
      new_key: idOfUuid(idPrefixes.apiKey, issued.row.id),
      expires_at: { from: row.expires_at && unixSeconds(row.expires_at), to: unixSeconds(expiresAt) },
    },
  });
  return issued;
}

/** A key made for 90 days is followed by one for 90 days. */
function sameLifetime(
  { created_at: createdAt, expires_at: expiresAt }: ApiKeyRow,
  nowMs: number,
): Date | null {
  return expiresAt && new Date(nowMs + expiresAt.getTime() - createdAt.getTime());
}

function earlierOf(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
