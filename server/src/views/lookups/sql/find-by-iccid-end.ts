import type { EsimStatus } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';

type Found = { iccid: string; status: EsimStatus; created_at: Date };

/** eSIMs whose ICCID ends with these digits, at least four, newest first. */
export function findByIccidEnd(
  db: Queryable,
  accountUuid: string,
  digits: string,
  count: number,
): Promise<Found[]> {
  return db.query(
    {
      name: 'search_iccid_end',
      text: `
select iccid, status, created_at
from (
  select id, iccid, status, created_at
  from esims
  where account_id = $1 and right(iccid, 4) = right($2, 4)
  offset 0
) esim
where right(iccid, length($2)) = $2
order by id desc
limit $3`,
    },
    [accountUuid, digits, count],
  );
}
