import type { Esim } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { clip } from '../../platform/telemetry/clip.ts';
import { presentEsim } from './present.ts';
import { type EsimRow, findEsim } from './sql/esims.ts';

export async function getEsim(ctx: Context, { params }: { params: { iccid: string } }): Promise<Esim> {
  return presentEsim(await requireEsim(ctx.db, ctx.account.uuid, params.iccid));
}

/** Finds an eSIM of the account. An eSIM of another account counts as missing. */
export async function requireEsim(db: Queryable, accountUuid: string, iccid: string): Promise<EsimRow> {
  const row = await findEsim(db, accountUuid, iccid);
  if (!row) throw noSuchEsim(iccid);
  return row;
}

export function noSuchEsim(iccid: string): AppError {
  return new AppError('resource_missing', `No eSIM has the ICCID "${clip(iccid)}".`, { param: 'iccid' });
}
