import type { InputFor } from '@simplane/contract';
import type { ReadContext } from '../../accounts/context.ts';
import { createdRangeOf } from '../../platform/lists/created-range.ts';
import { readPageById } from '../../platform/lists/read-page.ts';
import { presentEsim } from './present.ts';
import { listEsimRows } from './sql/list.ts';

export function listEsims(ctx: ReadContext, { query }: InputFor<'listEsims'>) {
  const filter = {
    status: query.status,
    productId: query.product_id,
    eid: query.eid,
    reference: query.reference,
    metadata: query.metadata && Object.entries(query.metadata).sort(),
    created: createdRangeOf(query),
  };
  return readPageById(query, {
    scope: { list: 'esims', accountId: ctx.account.id, filters: filter },
    read: (beforeUuid, count) => listEsimRows(ctx.db, ctx.account.uuid, filter, { beforeUuid, count }),
    present: presentEsim,
    waitForRoom: ctx.waitForRoom,
  });
}
