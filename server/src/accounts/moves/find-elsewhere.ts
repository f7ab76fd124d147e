import { idPrefixes } from '@simplane/contract';
import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { many } from '../../platform/db/statement.ts';
import { idOfUuid, uuidOfId } from '../../platform/ids/uuid.ts';

const elsewhere = many<{ uuid: string; cell: Cell }, [accounts: readonly string[]]>('accounts_elsewhere')`
select account_id as uuid, cell
from account_moves
where account_id = any($1::uuid[]) and state in ('moved', 'arriving')`;

/** Of these accounts, those that have a row here but are in another cell, and that cell. By their ids. */
export async function findElsewhere(db: Queryable, ids: readonly string[]): Promise<Map<string, Cell>> {
  const uuids = ids.flatMap((id) => uuidOfId(idPrefixes.account, id) ?? []);
  const rows = uuids.length > 0 ? await elsewhere(db, uuids) : [];
  return new Map(rows.map(({ uuid, cell }) => [idOfUuid(idPrefixes.account, uuid), cell]));
}
