import type { ApiKey } from '@simplane/contract';
import type { Outcome } from '../platform/idempotency/outcome.ts';
import type { WriteContext } from './context.ts';
import { requireNoMore } from './require-no-more.ts';
import { findKeyRow } from './sql/keys.ts';

/** A stored answer shows a new key again. A key that could not have made it does not get it, although it repeats the request. */
export async function requireReplayNoMore(ctx: WriteContext, outcome: Outcome): Promise<Outcome> {
  if (outcome.kind !== 'answered' || !outcome.replayed || !outcome.answer.isSecret) return outcome;
  const maker = await findKeyRow(ctx.db, { accountUuid: ctx.account.uuid, keyUuid: ctx.apiKey.uuid });
  const shown = JSON.parse(outcome.answer.body) as ApiKey;
  const expiresAt = shown.expires_at === null ? null : new Date(shown.expires_at * 1000);
  requireNoMore(maker ?? noPowers, { ...shown, expires_at: expiresAt });
  return outcome;
}

const noPowers = { scopes: [], expires_at: null, allowed_cidrs: [] };
