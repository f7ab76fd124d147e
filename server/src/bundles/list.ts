import type { InputOf, Operations } from '@simplane/contract';
import type { Context } from '../context.ts';
import { requireEsim } from '../esims/get.ts';
import { readPage } from '../lists/read-page.ts';
import { presentBundle } from './present.ts';
import { listBundleRows } from './sql.ts';

export async function listBundles(ctx: Context, { params, query }: InputOf<Operations['listBundles']>) {
  const { iccid } = await requireEsim(ctx.db, ctx.account.uuid, params.iccid);
  return readPage(query, {
    place: { list: 'bundles', accountId: ctx.account.id, filters: { iccid } },
    read: (beforeUuid, count) => listBundleRows(ctx.db, ctx.account.uuid, iccid, { beforeUuid, count }),
    positionOf: (row) => row.id,
    present: presentBundle,
  });
}
