import { type Erasure, type InputFor, idPrefixes } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { Author, Context, OperatorContext } from '../../accounts/context.ts';
import { requireAccount } from '../../accounts/get-account.ts';
import { requireChangeable } from '../../accounts/moves/require-here.ts';
import { conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../platform/ids/uuid.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { lockOwnEsim } from '../esims/lock.ts';
import { presentErasure } from './get.ts';
import { type ErasureRow, findErasure, insertErasure, markErased } from './sql.ts';

/** `POST /v1/esims/{iccid}/erase`. A chore does the work. */
export async function eraseEsim(tx: Queryable, ctx: Context, { params }: InputFor<'eraseEsim'>) {
  const { iccid, status, erased_at: erasedAt } = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
  if (status !== 'terminated') {
    throw conflict(
      `The eSIM is ${status}. Terminate it first, with DELETE /v1/esims/{iccid}, and wait until it is terminated: an eSIM in use needs its data.`,
    );
  }
  if (erasedAt === null) await markErased(tx, ctx.account.uuid, iccid, new Date(ctx.clock.nowMs()));
  const { erasure, isNew } = await request(tx, ctx, ctx.account.uuid, iccid);
  return {
    body: presentErasure(erasure),
    location: `/v1/esims/${iccid}/erasure`,
    ...(!isNew && { changes: null }),
  };
}

/** `POST /v1/operator/accounts/{id}/erase`. */
export async function eraseAccount(
  tx: Queryable,
  ctx: OperatorContext,
  { params }: InputFor<'eraseAccount'>,
) {
  const body = await requestAccountErasure(tx, ctx, params.id);
  return { body, location: `/v1/operator/accounts/${params.id}/erasure`, changes: null };
}

export async function requestAccountErasure(tx: Queryable, keeper: Author, id: string): Promise<Erasure> {
  const account = await requireAccount(tx, id);
  requireChangeable(account);
  if (!account.closing?.terminate_esims) {
    throw conflict(
      'Close the account first, with DELETE /v1/operator/accounts/{id}?terminate_esims=true: data of an account or eSIM in use would come back.',
    );
  }
  const { erasure, isNew } = await request(tx, keeper, account.id, null);
  if (isNew) {
    await recordAudit(tx, keeper, {
      accountUuid: account.id,
      action: 'account.erasure_requested',
      target: { type: 'account', id: idOfUuid(idPrefixes.account, account.id) },
    });
  }
  return presentErasure(erasure);
}

/** The erasure of the target, which there is one of. */
async function request(
  tx: Queryable,
  { clock, newUuid }: TimeAndIds,
  accountUuid: string,
  iccid: string | null,
): Promise<{ erasure: ErasureRow; isNew: boolean }> {
  const id = uuidText(newUuid());
  const requested_at = new Date(clock.nowMs());
  const isNew = await insertErasure(tx, { account_id: accountUuid, id, iccid, requested_at });
  return { erasure: (await findErasure(tx, accountUuid, iccid)) as ErasureRow, isNew };
}
