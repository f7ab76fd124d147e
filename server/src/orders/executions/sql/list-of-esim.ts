import type { Queryable } from '../../../platform/db/database.ts';
import { beforeFirst, pageOfValue } from '../../../platform/lists/keyset.ts';
import { endedColumns, openColumns } from '../row-columns.ts';
import type { ExecutionRow } from './rows.ts';

const ofEsim = pageOfValue('iccid', '$3');

type Esim = { account_id: string; iccid: string; execution_id: string };

/**
 * The order and the commands of an eSIM, newest first. One statement, so an execution that ends meanwhile is found once. The order is
 * found by its id: an index by ICCID would slow every order down.
 */
export function listRowsOfEsim(
  db: Queryable,
  esim: Esim,
  page: { beforeUuid: string | null; count: number },
): Promise<ExecutionRow[]> {
  return db.query(
    {
      name: 'execution_list_of_esim',
      text: `
select *
from (
  (select ${endedColumns}
    from executions
    where account_id = $1 and ${ofEsim.condition} and type <> 'esim.provision'
    order by ${ofEsim.order}
    limit $5)
  union all
  (select ${openColumns}
    from execution_queue
    where account_id = $1 and iccid = $3 and type <> 'esim.provision' and id < $2
    order by id desc
    limit $5)
  union all
  (select ${endedColumns}
    from executions
    where account_id = $1 and id = $4 and id < $2)
  union all
  (select ${openColumns}
    from execution_queue
    where account_id = $1 and id = $4 and id < $2)
) execution
order by id desc
limit $5`,
    },
    [esim.account_id, page.beforeUuid ?? beforeFirst, esim.iccid, esim.execution_id, page.count],
  );
}
