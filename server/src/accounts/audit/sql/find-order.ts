import type { Queryable } from '../../../platform/db/database.ts';

// How many entries before an order are searched for it, nearest first. Usually it is in the first few.
const mostEntries = 5_000;

/** The uuid of the execution that ordered an eSIM; null if there is no such eSIM. */
export async function findOrderOfEsim(
  db: Queryable,
  accountUuid: string | undefined,
  iccid: string,
): Promise<string | null> {
  const { name, account, values } = within('audit_esim_order', accountUuid, [iccid]);
  const [row] = await db.query<{ id: string }>(
    {
      name,
      text: `
select execution_id as id
from esims
where ${account} iccid = $1
union all
select id
from execution_queue
where ${account} iccid = $1 and type = 'esim.provision'`,
    },
    values,
  );
  return row?.id ?? null;
}

/** The target of the entry that lists this order among others, from `fromUuid` on; null if there is none. */
export async function findSharedEntry(
  db: Queryable,
  accountUuid: string | undefined,
  order: { uuid: string; fromUuid: string },
): Promise<string | null> {
  const given = [order.uuid, order.fromUuid, mostEntries];
  const { name, account, values } = within('audit_shared_entry', accountUuid, given);
  const [row] = await db.query<{ target_id: string }>(
    {
      name,
      // The id of an entry is that of its first order, so it is not after this order's.
      text: `
select target_id
from (
  select target_id, orders
  from audit_log
  where ${account} (action, id) <= ('esim.ordered', $1)
    and (action, id) >= ('esim.ordered', $2)
  order by action desc, id desc
  limit $3
  offset 0
) nearby
where $1::uuid = any(orders)
limit 1`,
    },
    values,
  );
  return row?.target_id ?? null;
}

function within(name: string, accountUuid: string | undefined, given: unknown[]) {
  if (accountUuid === undefined) return { name: `${name}_of_all`, account: '', values: given };
  return { name, account: `account_id = $${given.length + 1} and`, values: [...given, accountUuid] };
}
