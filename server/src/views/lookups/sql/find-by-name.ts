import type { Queryable } from '../../../platform/db/database.ts';

export type FoundByName = { type: 'product' | 'event_consumer'; about: string; created_at: Date };

/** Objects whose ids people choose: products, which all accounts see, and the account's event consumers. */
export function findByName(db: Queryable, accountUuid: string, name: string): Promise<FoundByName[]> {
  return db.query<FoundByName>(
    {
      name: 'search_name',
      text: `
select 'product' as type, name as about, created_at
from products
where id = $2
union all
select 'event_consumer', coalesce(array_to_string(types, ', '), 'all types'), created_at
from event_consumers
where account_id = $1 and name = $2`,
    },
    [accountUuid, name],
  );
}
