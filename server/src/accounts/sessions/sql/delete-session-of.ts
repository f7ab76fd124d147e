import type { Queryable } from '../../../platform/db/database.ts';
import { ownedBy } from './owned-by.ts';

/** Returns the id of the session's key; null if there is no such session of a key of this account, or of an operator. */
export async function deleteSessionOf(
  tx: Queryable,
  accountUuid: string | null,
  sessionUuid: string,
): Promise<string | null> {
  const { condition, suffix } = ownedBy(accountUuid);
  const [row] = await tx.query<{ key_id: string }>(
    {
      name: `session_delete_one${suffix}`,
      text: `
delete from dashboard_sessions s
using api_keys k
where ${condition}
  and k.id = s.key_id
  and s.id = $2
returning s.key_id`,
    },
    [accountUuid, sessionUuid],
  );
  return row?.key_id ?? null;
}
