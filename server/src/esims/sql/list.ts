import type { EsimStatus } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { beforeFirst } from '../../lists/keyset.ts';
import { columns, type EsimRow } from './rows.ts';

type Filter = { status: EsimStatus | undefined; productId: string | undefined };
type Page = { beforeUuid: string | null; count: number };

/** Each filter has its index, and its own statement: a generic plan over optional filters would use none of them. */
export function listEsimRows(
  db: Queryable,
  accountUuid: string,
  { status, productId }: Filter,
  page: Page,
): Promise<EsimRow[]> {
  const values: unknown[] = [accountUuid, page.beforeUuid ?? beforeFirst, page.count];
  const conditions: string[] = [];
  let name = 'esim_list';
  if (status !== undefined) {
    values.push(status);
    conditions.push(`and status = $${values.length}`);
    name += '_status';
  }
  if (productId !== undefined) {
    values.push(productId);
    conditions.push(`and product_id = $${values.length}`);
    name += '_product';
  }
  const text = `
select ${columns}
from esims
where account_id = $1 and id < $2 ${conditions.join(' ')}
order by id desc
limit $3`;
  return db.query({ name, text }, values);
}
