import { idPrefixes, type Recovery } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import { clip } from '../../../platform/telemetry/clip.ts';
import { presentRecovery } from './present.ts';
import { findRecovery } from './sql.ts';

/** Also returns recoveries of deleted endpoints. */
export async function getRecovery(ctx: Context, { params }: { params: { id: string } }): Promise<Recovery> {
  const uuid = uuidOfId(idPrefixes.recovery, params.id);
  const row = uuid && (await findRecovery(ctx.db, ctx.account.uuid, uuid));
  if (row) return presentRecovery(row);
  throw new AppError('resource_missing', `No recovery has the id "${clip(params.id)}".`, { param: 'id' });
}
