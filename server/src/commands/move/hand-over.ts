import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../platform/db/database.ts';
import { listSealingKeys, recordSealingKey } from '../../platform/secrets/sql.ts';
import { CommandError } from '../command-error.ts';
import { recordStep } from './freeze.ts';
import { type Moving, rowsIn } from './parts.ts';
import { forgetMove } from './state.ts';
import { carried, replicated } from './tables.ts';

// Retention may remove old rows at any time, on one side first.
const comparisons = 10;

/** Throws if the other cell does not have as many rows of a table as this one. */
export async function compare(moving: Moving): Promise<void> {
  let differing: string[] = [];
  for (let round = 0; round < comparisons; round++, await sleep(200)) {
    const [here, there] = await Promise.all([
      countRows(moving.source, moving),
      countRows(moving.target, moving),
    ]);
    differing = [...here].flatMap(([table, count]) =>
      there.get(table) === count ? [] : [`${table}: ${count} here, ${there.get(table)} there`],
    );
    if (differing.length === 0) return;
  }
  throw new CommandError(
    `the cells do not have the same rows of the account: ${differing.join('; ')}. Run the command again, or with --undo. Both cells need the same SIMPLANE_RETENTION`,
  );
}

async function countRows(db: Queryable, { accountUuid }: Moving): Promise<Map<string, number>> {
  const compared = replicated.filter(({ isCompared }) => isCompared);
  const counts = compared.map(
    ({ name, rows }) => `select '${name}' as name, count(*)::integer as count from ${name} where ${rows}`,
  );
  const rows = await rowsIn<{ name: string; count: number }>(db, 'move_count', counts.join('\nunion all\n'), [
    accountUuid,
  ]);
  return new Map(rows.map(({ name, count }) => [name, count]));
}

const perBatch = 1_000;

/**
 * The account is in the other cell from the commit of this transaction on, with everything that gives work to do. Before it, all can be
 * undone; after it, nothing.
 */
export function handOver(moving: Moving): Promise<void> {
  const { source, target, accountUuid } = moving;
  return source.transaction(async (from) => {
    await rowsIn(from, 'move_snapshot', 'set transaction isolation level repeatable read, read only');
    await target.transaction(async (to) => {
      // If the answer to an earlier commit was lost, the account works there already.
      if (!(await isExpected(to, accountUuid))) return;
      for (const table of carried.toReversed()) await removeRows(to, table, accountUuid); // of an earlier stay
      for (const table of carried) await carry(from, to, table, accountUuid);
      await carryKeyIds(from, to);
      await recordStep(to, moving, 'account.moved');
      await forgetMove(to, accountUuid);
    });
  });
}

/** Also keeps a second run of the command from doing the same. */
async function isExpected(to: Queryable, accountUuid: string): Promise<boolean> {
  const text = `select from account_moves where account_id = $1 and state = 'arriving' for update`;
  return (await rowsIn(to, 'move_is_expected', text, [accountUuid])).length > 0;
}

/** The target's processes refuse to start without a key that its secrets need. */
async function carryKeyIds(from: Queryable, to: Queryable): Promise<void> {
  for (const id of await listSealingKeys(from)) await recordSealingKey(to, id);
}

type Table = { name: string; rows: string; changed?: string };

async function carry(from: Queryable, to: Queryable, table: Table, accountUuid: string): Promise<void> {
  const { name, rows, changed = '{}' } = table;
  const ofAccount = rows.replace('$1', `'${accountUuid}'`);
  await rowsIn(
    from,
    `move_open_${name}`,
    `declare move_${name} no scroll cursor for select (to_jsonb(${name}) || '${changed}')::text as row from ${name} where ${ofAccount}`,
  );
  for (let count = perBatch; count === perBatch; ) {
    const batch = await rowsIn<{ row: string }>(
      from,
      `move_fetch_${name}`,
      `fetch ${perBatch} from move_${name}`,
    );
    count = batch.length;
    await rowsIn(
      to,
      `move_insert_${name}`,
      `insert into ${name}
select stored.*
from unnest($1::text[]) as given (row)
cross join lateral jsonb_populate_record(null::${name}, given.row::jsonb) stored`,
      [batch.map(({ row }) => row)],
    );
  }
}

/** Removes the account's rows, some at a time: a statement is ended after a while. Outside a transaction, others do not wait for it. */
export async function removeRows(db: Queryable, { name, rows }: Table, accountUuid: string): Promise<void> {
  for (let count = perBatch; count === perBatch; ) {
    const removed = await rowsIn(
      db,
      `move_remove_${name}`,
      `delete from ${name} where ctid = any(array(select ctid from ${name} where ${rows} limit ${perBatch})) returning 1`,
      [accountUuid],
    );
    count = removed.length;
  }
}
