import { type InputOf, idPrefixes, type Operations } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { createdRangeOf } from '../../platform/lists/created-range.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import type { Context, OperatorContext } from '../context.ts';
import { findOrders } from './find-orders.ts';
import { presentEntry, presentOperatorEntry } from './present.ts';
import { type EntryFilter, listAccountEntries, listAllEntries } from './sql.ts';

export function listAuditLog(ctx: Context, { query }: InputOf<Operations['listAuditLog']>) {
  const { actor, action, target } = query;
  const filter = { actor, action, target, created: createdRangeOf(query) };
  return readPage(query, {
    scope: { list: 'audit_log', accountId: ctx.account.id, filters: filter },
    read: async (beforeUuid, count) => {
      const wanted = await withOrders(ctx.db, ctx.account.uuid, filter);
      return listAccountEntries(ctx.db, ctx.account.uuid, wanted, { beforeUuid, count });
    },
    positionOf: (row) => row.id,
    present: presentEntry,
    waitForRoom: ctx.waitForRoom,
  });
}

export function listOperatorAuditLog(
  ctx: OperatorContext,
  { query }: InputOf<Operations['listOperatorAuditLog']>,
) {
  const { actor, action, target, account_id: accountId } = query;
  const filter = { actor, action, target, created: createdRangeOf(query) };
  const accountUuid =
    accountId === undefined ? undefined : (uuidOfId(idPrefixes.account, accountId) ?? lowestUuid);
  return readPage(query, {
    scope: { list: 'operator_audit_log', accountId: '', filters: { ...filter, account_id: accountId } },
    read: async (beforeUuid, count) => {
      const wanted = await withOrders(ctx.db, accountUuid, filter);
      return listAllEntries(ctx.db, accountUuid, wanted, { beforeUuid, count });
    },
    positionOf: (row) => row.id,
    present: presentOperatorEntry,
    waitForRoom: ctx.waitForRoom,
  });
}

/** An entry about an order is found by each of its orders, and by the eSIM. */
async function withOrders(
  db: Queryable,
  accountUuid: string | undefined,
  filter: EntryFilter,
): Promise<EntryFilter> {
  if (filter.target === undefined) return filter;
  return { ...filter, orders: await findOrders(db, accountUuid, filter.target) };
}
