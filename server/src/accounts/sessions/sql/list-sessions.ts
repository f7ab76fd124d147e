import type { Queryable } from '../../../platform/db/database.ts';
import { beforeFirst } from '../../../platform/lists/keyset.ts';
import { ownedBy } from './owned-by.ts';

export type SessionRow = {
  id: string;
  ip: string | null;
  user_agent: string | null;
  created_at: Date;
  expires_at: Date;
  key_id: string;
  key_name: string;
  last4: string;
};

type Page = { now: Date; beforeUuid: string | null; count: number };

/** Newest first. By key, of which an account has a bounded number, each with few sessions. A session of a key that ended has ended. */
export function listSessionRows(
  db: Queryable,
  accountUuid: string | null,
  { now, beforeUuid, count }: Page,
): Promise<SessionRow[]> {
  const { condition, suffix } = ownedBy(accountUuid);
  return db.query(
    {
      name: `session_list${suffix}`,
      text: `
select s.id, s.ip, s.user_agent, s.created_at, s.expires_at, k.id as key_id, k.name as key_name, k.last4
from api_keys k
join dashboard_sessions s on s.key_id = k.id
where ${condition}
  and k.revoked_at is null
  and (k.expires_at is null or k.expires_at > $2)
  and s.expires_at > $2
  and s.id < $3
order by s.id desc
limit $4`,
    },
    [accountUuid, now, beforeUuid ?? beforeFirst, count],
  );
}
