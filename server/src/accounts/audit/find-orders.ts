import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid, uuidOfId } from '../../platform/ids/uuid.ts';
import { lowestUuidAt, unixMsOf } from '../../platform/ids/uuid-range.ts';
import { findOrderOfEsim, findSharedEntry } from './sql.ts';

// Orders wait some milliseconds for others to be accepted with; longer only while the database hangs.
const longestWaitMs = 60_000;

const iccid = /^[0-9]{18,20}$/;

/**
 * Orders that were accepted together share an entry, whose target is the first of them. Returns the targets of the entries that
 * also tell of this execution, or of the order of the eSIM with this ICCID. `accountUuid` is undefined for all accounts.
 */
export async function findOrders(
  db: Queryable,
  accountUuid: string | undefined,
  target: string,
): Promise<string[]> {
  const uuid =
    uuidOfId(idPrefixes.execution, target) ??
    (iccid.test(target) ? await findOrderOfEsim(db, accountUuid, target) : null);
  if (uuid === null) return [];
  const execution = idOfUuid(idPrefixes.execution, uuid);
  const fromUuid = lowestUuidAt(unixMsOf(uuid) - longestWaitMs);
  const shared = await findSharedEntry(db, accountUuid, { uuid, fromUuid });
  const found = new Set([execution, ...(shared === null ? [] : [shared])]);
  found.delete(target);
  return [...found];
}
