import { idPrefixes, type Recovery } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { noSuch } from '../../../platform/app-error.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import { presentRecovery } from './present.ts';
import { findRecovery } from './sql.ts';

/** Also returns recoveries of deleted endpoints. */
export async function getRecovery(ctx: Context, { params }: { params: { id: string } }): Promise<Recovery> {
  const uuid = uuidOfId(idPrefixes.recovery, params.id);
  const row = uuid && (await findRecovery(ctx.db, ctx.account.uuid, uuid));
  if (row) return presentRecovery(row);
  throw noSuch('recovery', params.id);
}
