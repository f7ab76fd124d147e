import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';

export type EsimKey = { accountUuid: string; iccid: string };

export type CountedEsim = EsimKey & {
  uuid: string;
  createdAt: Date;
  provisionedAt: Date | null;
  /** Stages that are counted, with the time each was reached. */
  milestones: { stage: string; at: string | null }[];
};

const given = rowsOf<EsimKey>({
  account_id: column.uuid((row) => row.accountUuid),
  iccid: column.text((row) => row.iccid),
});

/** eSIMs with what is counted of them. An eSIM whose order is open is still in the queue. */
export function findCountedEsims(tx: Queryable, esims: EsimKey[]): Promise<CountedEsim[]> {
  return tx.query(
    {
      name: 'overview_find_esims',
      text: `
select
  given.account_id as "accountUuid",
  given.iccid,
  esim.id as uuid,
  esim.created_at as "createdAt",
  esim.provisioned_at as "provisionedAt",
  reached.milestones
from ${given.table} given
cross join lateral (
  select id, created_at, provisioned_at
  from esims
  where account_id = given.account_id and iccid = given.iccid
  union all
  select id, created_at, null
  from execution_queue
  where account_id = given.account_id and iccid = given.iccid and type = 'esim.provision'
  limit 1
) esim
cross join lateral (
  select coalesce(jsonb_agg(jsonb_build_object('stage', stage, 'at', reached_at)), '[]') as milestones
  from esim_milestones
  where account_id = given.account_id and esim_id = esim.id
) reached`,
    },
    given.values(esims),
  );
}
