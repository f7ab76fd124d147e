import { type InputFor, idPrefixes } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid, uuidOfId } from '../../platform/ids/uuid.ts';
import { lowestUuid, lowestUuidAt, unixMsOf } from '../../platform/ids/uuid-range.ts';
import { createdRangeOf } from '../../platform/lists/created-range.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import type { OperatorContext, ReadContext } from '../context.ts';
import { presentEntry, presentOperatorEntry } from './present.ts';
import {
  type EntryFilter,
  findBatchOfOrder,
  findOrderOfEsim,
  findSharedEntry,
  listAccountEntries,
  listAllEntries,
} from './sql.ts';

export function listAuditLog(ctx: ReadContext, { query }: InputFor<'listAuditLog'>) {
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

export function listOperatorAuditLog(ctx: OperatorContext, { query }: InputFor<'listOperatorAuditLog'>) {
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

// Orders wait some milliseconds for others to be accepted with; longer only while the database hangs.
const longestWaitMs = 60_000;

const iccid = /^[0-9]{18,20}$/;

/**
 * Orders that were accepted together share an entry, whose target is the first of them or their batch. Returns the targets of the
 * entries that also tell of this execution, or of the order of the eSIM with this ICCID. `accountUuid` is undefined for all accounts.
 */
async function findOrders(db: Queryable, accountUuid: string | undefined, target: string): Promise<string[]> {
  const uuid =
    uuidOfId(idPrefixes.execution, target) ??
    (iccid.test(target) ? await findOrderOfEsim(db, accountUuid, target) : null);
  if (uuid === null) return [];
  const execution = idOfUuid(idPrefixes.execution, uuid);
  const fromUuid = lowestUuidAt(unixMsOf(uuid) - longestWaitMs);
  const shared = await findSharedEntry(db, accountUuid, { uuid, fromUuid });
  const batchUuid = await findBatchOfOrder(db, accountUuid, uuid);
  const batch = batchUuid && idOfUuid(idPrefixes.batch, batchUuid);
  const found = new Set([execution, ...[shared, batch].filter((id) => id !== null)]);
  found.delete(target);
  return [...found];
}
