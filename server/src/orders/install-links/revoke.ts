import { type InputFor, idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { deleteLink } from './sql.ts';

/** Links are looked up for each request, so every process answers from now on as if there had never been one. */
export async function revokeInstallLink(
  tx: Queryable,
  ctx: Context,
  { params: { iccid, id } }: InputFor<'revokeInstallLink'>,
) {
  const uuid = uuidOfId(idPrefixes.installLink, id);
  if (uuid === null || !(await deleteLink(tx, ctx.account.uuid, iccid, uuid))) {
    throw new AppError(
      'resource_missing',
      'The eSIM has no install link with this id, or it was revoked before; GET /v1/esims/{iccid}/install_links lists them.',
    );
  }
  return { body: { id, object: 'install_link', deleted: true } as const, changes: { iccid } };
}
