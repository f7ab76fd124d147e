import type { InputFor } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { requireEsim } from '../esims/get.ts';
import { presentLink } from './present.ts';
import { listLinkRows } from './sql.ts';

export async function listInstallLinks(ctx: Context, { params, query }: InputFor<'listInstallLinks'>) {
  const { iccid } = await requireEsim(ctx.db, ctx.account.uuid, params.iccid);
  return readPageById(query, {
    scope: { list: 'install_links', accountId: ctx.account.id, filters: { iccid } },
    read: (beforeUuid, count) => listLinkRows(ctx.db, ctx.account.uuid, iccid, beforeUuid, count),
    present: presentLink,
  });
}
