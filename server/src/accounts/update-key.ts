import type { InputFor } from '@simplane/contract';
import { AppError, noSuch } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import { changedFields } from './audit/record.ts';
import { checkKeySettings, requireTenantScopes } from './check-key-settings.ts';
import type { Context } from './context.ts';
import { keyIdOf } from './get-key.ts';
import { requireUsable } from './key-state.ts';
import { presentKey, settingsOf } from './present-key.ts';
import { lockMaker, requireNoMore } from './require-no-more.ts';
import { type ApiKeyRow, lockKey, saveKey } from './sql/keys.ts';

type Input = InputFor<'updateApiKey'>;

/** Changes only the given fields; an empty body changes nothing. */
export async function updateApiKey(tx: Queryable, ctx: Context, { params, body }: Input) {
  const row = await lockKey(tx, keyIdOf(ctx.account.uuid, params.id));
  if (!row) throw noSuch('API key', params.id);
  const maker = await lockMaker(tx, ctx);
  requireNoMore(maker, row);
  checkKeySettings(ctx, body);
  requireUsable(row, new Date(ctx.clock.nowMs()));
  const changed = withChanges(row, body);
  const changes = changedFields(settingsOf(row), settingsOf(changed));
  if (row.id === maker.id) requireNameOnly(changes);
  requireNoMore(maker, changed);
  requireTenantScopes(
    ctx.mode,
    changed.scopes.filter((scope) => !row.scopes.includes(scope)),
  );
  await saveKey(tx, changed);
  return { body: presentKey(changed), changes };
}

function withChanges(row: ApiKeyRow, body: Input['body']): ApiKeyRow {
  const { expires_at: expiresAt, ...rest } = body;
  if (expiresAt === undefined) return { ...row, ...rest };
  return { ...row, ...rest, expires_at: expiresAt === null ? null : new Date(expiresAt * 1000) };
}

/** A key cannot lift its own limits. Nor can it tighten them, so the last admin cannot lock its account out by mistake. */
function requireNameOnly(changes: object): void {
  const [limit] = Object.keys(changes).filter((field) => field !== 'name');
  if (limit === undefined) return;
  throw new AppError(
    'api_key_settings_refused',
    `A key can change its own name only. Change ${limit} with another key that has the \`admin\` scope, or roll this one to replace it.`,
    { param: limit },
  );
}
