import type { EsimStatus } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { beforeFirst, oldestOnPage } from '../../lists/keyset.ts';
import { columns, type EsimRow, isQueuedEsim, queuedColumns } from './rows.ts';

type Filter = { status: EsimStatus | undefined; productId: string | undefined };
type Page = { beforeUuid: string | null; count: number };

/**
 * Newest first, including eSIMs being provisioned. An eSIM has its order's id in both tables, so paging shows it once even if it
 * moves. Each filter has its own index and statement: a generic plan over optional filters would use no index.
 */
export function listEsimRows(
  db: Queryable,
  accountUuid: string,
  { status, productId }: Filter,
  page: Page,
): Promise<EsimRow[]> {
  const values: unknown[] = [accountUuid, page.beforeUuid ?? beforeFirst, page.count];
  let name = 'esim_list';
  let byStatus = '';
  let byProduct = '';
  if (status !== undefined) {
    values.push(status);
    byStatus = `and status = $${values.length}`;
    name += status === 'provisioning' ? '_provisioning' : '_status';
  }
  if (productId !== undefined) {
    values.push(productId);
    byProduct = `and product_id = $${values.length}`;
    name += '_product';
  }
  const stored = `
select ${columns}
from esims
where account_id = $1 and id < $2 ${byStatus} ${byProduct}
order by id desc
limit $3`;
  if (status !== undefined && status !== 'provisioning') return db.query({ name, text: stored }, values);
  const queued = `
select ${queuedColumns}
from execution_queue
where account_id = $1 and id < $2 and id >= ${oldestOnPage('stored')} and fence > 0 and ${isQueuedEsim} ${byProduct}
order by id desc
limit $3`;
  const text = `
with stored as materialized (${stored})
select *
from (
  (select * from stored)
  union all
  (${queued})
) page
order by id desc
limit $3`;
  return db.query({ name, text }, values);
}
