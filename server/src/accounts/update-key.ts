import type { InputOf, Operations } from '@simplane/contract';
import { changedFields } from '../audit/changed-fields.ts';
import { recordAudit } from '../audit/record.ts';
import type { WriteContext } from '../context.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { checkKeySettings, requireOwnScopes } from './check-key-settings.ts';
import { keyIdOf, noSuchKey } from './get-key.ts';
import { requireAnotherAdmin, requireUsable } from './key-state.ts';
import { presentKey, settingsOf } from './present-key.ts';
import { lockKey } from './sql/lock-key.ts';
import type { ApiKeyRow } from './sql/rows.ts';
import { saveKey } from './sql/save-key.ts';

type Input = InputOf<Operations['updateApiKey']>;

/** Changes only the given fields; an empty body changes nothing. */
export async function updateKey(ctx: WriteContext, { params, body }: Input): Promise<Outcome> {
  const refusal = checkKeySettings(ctx, body);
  return runOnce(ctx, async (tx) => {
    const now = new Date(ctx.clock.nowMs());
    const row = await lockKey(tx, keyIdOf(ctx.account.uuid, params.id));
    if (!row) throw noSuchKey(params.id);
    requireOwnScopes(ctx, [...row.scopes, ...(body.scopes ?? [])]);
    if (refusal) throw refusal;
    requireUsable(row, now);
    const changed = withChanges(row, body);
    if (isLesserAdmin(row, changed)) await requireAnotherAdmin(tx, row, now);
    await saveKey(tx, changed);
    await recordAudit(tx, ctx, {
      accountUuid: ctx.account.uuid,
      action: 'api_key.updated',
      target: { type: 'api_key', id: params.id },
      changes: changedFields(settingsOf(row), settingsOf(changed)),
    });
    return ctx.render(presentKey(changed));
  });
}

function withChanges(row: ApiKeyRow, body: Input['body']): ApiKeyRow {
  const { expires_at: expiresAt, ...rest } = body;
  if (expiresAt === undefined) return { ...row, ...rest };
  return { ...row, ...rest, expires_at: expiresAt === null ? null : new Date(expiresAt * 1000) };
}

/** Whether the key loses `admin`, or stops working earlier than before. */
function isLesserAdmin(before: ApiKeyRow, after: ApiKeyRow): boolean {
  const endsMs = ({ expires_at: at }: ApiKeyRow) => at?.getTime() ?? Number.POSITIVE_INFINITY;
  return !after.scopes.includes('admin') || endsMs(after) < endsMs(before);
}
