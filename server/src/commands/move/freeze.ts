import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { isUnavailable } from '../../platform/db/unavailable.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { type Moving, rowsIn, untilFrozen } from './parts.ts';
import { setState } from './state.ts';
import { guarded } from './tables.ts';

// What runs gets this long to end by itself, because what is taken from a worker is run again in the other cell.
const drainMs = 4_000;

// Below PostgreSQL's deadlock_timeout of 1 s: this command gives up, never a client's write.
const lockTimeout = '200ms';

/**
 * From here on nothing of the account changes, until it is thawed or in the other cell. Resolves when the other cell has all that is
 * replicated. Can be called again, wherever it ended.
 */
export async function freeze(moving: Moving): Promise<void> {
  const { source, say } = moving;
  say('freezing: writes of the account get 503 now');
  await source.transaction((tx) => setState(tx, moving, 'frozen', moving.cells.target));
  const endMs = performance.now() + drainMs;
  while ((await takeLeases(moving, { byForce: false })) > 0 && performance.now() < endMs) await sleep(50);
  await guard(moving, guarded);
  await takeLeases(moving, { byForce: true });
  await untilSequenced(moving);
  await guard(moving, ['audit_log'], (tx) => recordStep(tx, moving, 'account.frozen'));
  // Again, because an order without an Idempotency-Key was accepted until the audit log was closed.
  await takeLeases(moving, { byForce: true });
  await untilArrived(moving);
}

/** SQL: the end of a lease that the move takes, longer than any that a worker has. */
const forGood = `now() + interval '100 years'`;
const isTaken = `leased_until > now() + interval '1 year'`;

// Neither what nobody held, which may never have reached the network and can be canceled, nor what the move itself has.
const isHeld = `(leased_until is not null and not ${isTaken})::integer`;

/** Takes what no worker holds, or everything; returns how much is still held. The fence stops who held it from writing. */
async function takeLeases(
  { source, accountUuid }: Moving,
  { byForce }: { byForce: boolean },
): Promise<number> {
  const [row] = await rowsIn<{ held: number }>(
    source,
    'move_take_leases',
    `with orders as (
  update execution_queue
  set leased_until = ${forGood}, holder = null, fence = fence + ${isHeld}
  where account_id = $1 and ($2 or leased_until is null or leased_until <= now())
), returns as (
  update execution_resolutions
  set leased_until = ${forGood}, fence = fence + ${isHeld}
  where account_id = $1 and ($2 or leased_until is null or leased_until <= now())
), states as (
  update core_queue
  set leased_until = ${forGood}, holder = null
  where account_id = $1 and ($2 or leased_until is null or leased_until <= now())
), endpoints as (
  insert into endpoint_leases as known (endpoint_id, account_id, holder, fence, leased_until)
  select id, account_id, $1, 1, ${forGood}
  from webhook_endpoints
  where account_id = $1
  on conflict (endpoint_id) do update
  set holder = excluded.holder, fence = known.fence + 1, leased_until = excluded.leased_until
  where known.holder <> excluded.holder
)
select count(*)::integer as held
from execution_queue
where account_id = $1 and leased_until > now() and not ${isTaken}`,
    [accountUuid, byForce],
  );
  return row?.held ?? 0;
}

async function untilSequenced({ source, accountUuid }: Moving): Promise<void> {
  const text = 'select from unsequenced_events where account_id = $1 limit 1';
  const isEmpty = async () => (await rowsIn(source, 'move_unsequenced', text, [accountUuid])).length === 0;
  await untilFrozen(isEmpty, 'its last events got no position in the feed: does a worker of this cell run?');
}

/**
 * Refuses the account's rows in these tables, also to a process that still believes that it may write them. Waits for transactions
 * that write there now, and does `last` before the tables are closed.
 */
async function guard(
  { source, accountUuid, name }: Moving,
  tables: readonly string[],
  last: (tx: Queryable) => Promise<void> = async () => {},
): Promise<void> {
  const close = async () => {
    try {
      await source.transaction(async (tx) => {
        await rowsIn(tx, 'move_lock_timeout', `set local lock_timeout = '${lockTimeout}'`);
        await rowsIn(
          tx,
          `move_lock_${tables.length}`,
          `lock table ${tables.join(', ')} in share row exclusive mode`,
        );
        for (const table of tables)
          await rowsIn(tx, `move_reopen_${table}`, `drop trigger if exists ${name} on ${table}`);
        await last(tx);
        for (const table of tables)
          await rowsIn(
            tx,
            `move_guard_${table}`,
            `create trigger ${name} before insert or update on ${table}
for each row when (new.account_id = '${accountUuid}') execute function refuse_while_frozen()`,
          );
      });
      return true;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return false;
    }
  };
  await untilFrozen(close, `a long transaction keeps its locks on ${tables.join(', ')}`);
}

/** The entry of the freeze is the last row that replication brings, so when the other cell has it, it has all. */
async function untilArrived({ source, target, accountUuid }: Moving): Promise<void> {
  const find = (db: Queryable) =>
    rowsIn<{ id: string }>(
      db,
      'move_last_entry',
      `select id from audit_log where account_id = $1 and action = 'account.frozen' order by id desc limit 1`,
      [accountUuid],
    );
  const [last] = await find(source);
  const isThere = async () => (await find(target))[0]?.id === last?.id;
  await untilFrozen(
    isThere,
    'the last rows have not come to the other cell: the log of its PostgreSQL may say why',
  );
}

export async function removeGuards({ source, name }: Moving): Promise<void> {
  for (const table of [...guarded, 'audit_log'])
    await rowsIn(source, `move_unguard_${table}`, `drop trigger if exists ${name} on ${table}`);
}

/** Gives back what the freeze took, so that the account works here again. */
export async function thaw(moving: Moving): Promise<void> {
  const { source, accountUuid } = moving;
  await removeGuards(moving);
  await rowsIn(
    source,
    'move_thaw',
    `with orders as (
  update execution_queue set leased_until = null where account_id = $1 and ${isTaken}
), returns as (
  update execution_resolutions set leased_until = null where account_id = $1 and ${isTaken}
), states as (
  update core_queue set leased_until = null where account_id = $1 and ${isTaken}
)
delete from endpoint_leases where account_id = $1 and holder = $1`,
    [accountUuid],
  );
}

export function recordStep(
  tx: Queryable,
  { tools, accountUuid, cells }: Moving,
  action: 'account.frozen' | 'account.move_started' | 'account.moved' | 'account.move_undone',
): Promise<void> {
  return recordAudit(tx, tools, {
    accountUuid,
    action,
    target: { type: 'account', id: idOfUuid(idPrefixes.account, accountUuid) },
    changes: { cell: { from: cells.source, to: cells.target } },
  });
}
