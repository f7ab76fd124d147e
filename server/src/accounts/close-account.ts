import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid } from '../platform/ids/uuid.ts';
import { recordAudit } from './audit/record.ts';
import type { Author } from './context.ts';
import { requireChangeable } from './moves/require-here.ts';
import { endSessionsOf } from './sessions/end-session.ts';
import {
  type AccountRow,
  addTerminations,
  findAccount,
  insertClosing,
  lockAccountRow,
  setClosed,
} from './sql/accounts.ts';
import { revokeKeysOf } from './sql/keys.ts';

/**
 * Ends what lets someone in. Closing an account again changes nothing but that its eSIMs are terminated after all. Null if there is no
 * such account.
 */
export async function markClosed(
  tx: Queryable,
  keeper: Author,
  uuid: string,
  terminateEsims: boolean,
): Promise<AccountRow | null> {
  const row = await lockAccountRow(tx, uuid);
  if (!row) return null;
  requireChangeable(row);
  if (row.closed_at === null) {
    const at = new Date(keeper.clock.nowMs());
    await setClosed(tx, uuid, at);
    await revokeKeysOf(tx, uuid, at);
    await endSessionsOf(tx, uuid);
    await insertClosing(tx, uuid, terminateEsims);
  } else if (!terminateEsims || row.closing?.terminate_esims) {
    return row;
  } else {
    await addTerminations(tx, uuid);
  }
  await recordAudit(tx, keeper, {
    accountUuid: uuid,
    action: 'account.closed',
    target: { type: 'account', id: idOfUuid(idPrefixes.account, uuid) },
    changes: { terminate_esims: terminateEsims },
  });
  return findAccount(tx, uuid);
}
