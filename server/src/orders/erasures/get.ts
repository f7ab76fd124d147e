import { type Erasure, type InputFor, idPrefixes } from '@simplane/contract';
import type { Context, OperatorContext } from '../../accounts/context.ts';
import { requireAccount } from '../../accounts/get-account.ts';
import { AppError } from '../../platform/app-error.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { requireEsim } from '../esims/get.ts';
import { type ErasureRow, findErasure } from './sql.ts';

export async function getEsimErasure(ctx: Context, { params }: InputFor<'getEsimErasure'>): Promise<Erasure> {
  const { iccid } = await requireEsim(ctx.db, ctx.account.uuid, params.iccid);
  return presentErasure(requireAsked(await findErasure(ctx.db, ctx.account.uuid, iccid)));
}

export async function getAccountErasure(
  ctx: OperatorContext,
  { params }: InputFor<'getAccountErasure'>,
): Promise<Erasure> {
  const { id: uuid } = await requireAccount(ctx.db, params.id);
  return presentErasure(requireAsked(await findErasure(ctx.db, uuid, null)));
}

function requireAsked(row: ErasureRow | null): ErasureRow {
  if (row) return row;
  throw new AppError('resource_missing', 'Nobody has asked for its erasure.');
}

export function presentErasure({ account_id, id, iccid, requested_at, finished_at }: ErasureRow): Erasure {
  return {
    id: idOfUuid(idPrefixes.erasure, id),
    object: 'erasure',
    target:
      iccid === null
        ? { type: 'account', id: idOfUuid(idPrefixes.account, account_id) }
        : { type: 'esim', id: iccid },
    status: finished_at ? 'finished' : 'pending',
    requested_at: unixSeconds(requested_at),
    finished_at: finished_at && unixSeconds(finished_at),
  };
}
