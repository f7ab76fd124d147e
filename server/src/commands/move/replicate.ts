import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../../platform/db/database.ts';
import { isUnavailable } from '../../platform/db/unavailable.ts';
import { CommandError } from '../command-error.ts';
import { type Moving, rowsIn } from './parts.ts';
import { replicated } from './tables.ts';

/** Starts to copy the account's rows, and goes on with their changes. What is there already stays, so it can be called again. */
export async function startReplication(moving: Moving): Promise<void> {
  const { source, target, name, sourceUrl } = moving;
  const isSubscribed = await hasSubscription(moving);
  // A new one would begin behind what has changed since.
  if (isSubscribed && !(await hasSlot(moving)))
    throw new CommandError(
      'PostgreSQL of this cell does not know any more what it has sent, as after a failover: run the command with --undo, and then again',
    );
  await markUsage(moving);
  await alterTables(moving, (tx) => publish(tx, moving));
  // By itself, because a subscription that makes its own waits forever if both databases are on one server.
  await rowsIn(
    source,
    'move_create_slot',
    `select pg_create_logical_replication_slot('${name}', 'pgoutput')
     where not exists (select from pg_replication_slots where slot_name = '${name}')`,
  );
  if (isSubscribed) return;
  await rowsIn(
    target,
    'move_subscribe',
    `create subscription ${name} connection '${sourceUrl.replaceAll("'", "''")}'
     publication ${name}, ${name}_inserts with (create_slot = false, slot_name = '${name}')`,
  );
}

/** Usage records from before they had an account get theirs. */
async function markUsage({ source, accountUuid }: Moving): Promise<void> {
  for (const { name, how } of replicated) {
    if (how !== 'full rows') continue;
    let after: string | undefined = '';
    while (after !== undefined) {
      const marked: { iccid: string }[] = await rowsIn(
        source,
        `move_mark_${name}`,
        `with next as (
  select iccid from esims where account_id = $1 and iccid > $2 order by iccid limit 500
), marked as (
  update ${name} set account_id = $1 where iccid in (select iccid from next) and account_id is null
)
select iccid from next order by iccid`,
        [accountUuid, after],
      );
      after = marked.at(-1)?.iccid;
    }
  }
}

// Below PostgreSQL's deadlock_timeout of 1 s: this command gives up, never a client's write.
const lockTimeout = '200ms';

/** Other moves from this cell share the tables, so one at a time changes what they tell replication. */
async function alterTables({ source }: Moving, alter: (tx: Queryable) => Promise<void>): Promise<void> {
  for (const endMs = performance.now() + alterMs; ; await sleep(100)) {
    try {
      return await source.transaction(async (tx) => {
        await rowsIn(
          tx,
          'move_alone',
          `select pg_advisory_xact_lock(hashtextextended('simplane_move_publications', 0))`,
        );
        await rowsIn(tx, 'move_alter_timeout', `set local lock_timeout = '${lockTimeout}'`);
        await alter(tx);
      });
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > endMs) throw error;
    }
  }
}

// A transaction that changes usage may last as long as its statements.
const alterMs = 30_000;

const fullRows = replicated.filter(({ how }) => how === 'full rows').map(({ name }) => name);

async function publish(tx: Queryable, { accountUuid, name }: Moving): Promise<void> {
  const isKnown = new Set((await publications(tx)).map(({ pubname }) => pubname));
  // A row filter needs it, or PostgreSQL refuses every change of these tables, of all accounts.
  for (const table of fullRows)
    await rowsIn(tx, `move_identify_${table}`, `alter table ${table} replica identity full`);
  const create = async (publication: string, isWanted: (how: string) => boolean, options: string) => {
    if (isKnown.has(publication)) return;
    const tables = replicated
      .filter(({ how }) => isWanted(how))
      .map((table) => `${table.name} where (account_id = '${accountUuid}')`);
    await rowsIn(
      tx,
      `create_${publication}`,
      `create publication ${publication} for table ${tables.join(', ')}${options}`,
    );
  };
  await create(name, (how) => how !== 'inserts only', '');
  await create(`${name}_inserts`, (how) => how === 'inserts only', ` with (publish = 'insert')`);
}

async function unpublish(tx: Queryable, { name }: Moving): Promise<void> {
  await rowsIn(tx, 'move_unpublish', `drop publication if exists ${name}, ${name}_inserts`);
  if ((await publications(tx)).length > 0) return; // the last move does the rest
  for (const table of fullRows)
    await rowsIn(tx, `move_unidentify_${table}`, `alter table ${table} replica identity default`);
}

/** Those of all moves from this cell. */
function publications(tx: Queryable) {
  const text = `select pubname from pg_publication where starts_with(pubname, 'simplane_move_')`;
  return rowsIn<{ pubname: string }>(tx, 'move_publications', text);
}

async function hasSubscription({ target, name }: Moving): Promise<boolean> {
  const found = await rowsIn(target, 'move_subscription', 'select from pg_subscription where subname = $1', [
    name,
  ]);
  return found.length > 0;
}

async function hasSlot({ source, name }: Moving): Promise<boolean> {
  const text = 'select from pg_replication_slots where slot_name = $1';
  return (await rowsIn(source, 'move_slot', text, [name])).length > 0;
}

/** A subscription cannot be dropped without its slot, unless it has none. */
async function forgetSlot({ target, name }: Moving): Promise<void> {
  await rowsIn(target, 'move_disable', `alter subscription ${name} disable`);
  await rowsIn(target, 'move_forget_slot', `alter subscription ${name} set (slot_name = none)`);
}

// It tries again every 5 s by default, and takes longer for its own start.
const retriedForMs = 20_000;

type Progress = { left: number; total: number; errors: number };

/** Resolves when the target has all rows, and gets changes as they happen. */
export async function untilCopied({ target, name, say }: Moving): Promise<void> {
  let before = { left: 0, errors: 0, atMs: 0 };
  for (; ; await sleep(200)) {
    const [progress] = await rowsIn<Progress>(
      target,
      'move_copied',
      `select count(*) filter (where srsubstate <> 'r')::integer as left, count(*)::integer as total,
  (select coalesce(sum(apply_error_count + sync_error_count), 0)::integer from pg_stat_subscription_stats where subname = $1) as errors
from pg_subscription_rel
where srsubid = (select oid from pg_subscription where subname = $1)`,
      [name],
    );
    const { left, total, errors } = progress as Progress;
    if (left === 0) return;
    if (left !== before.left) {
      say(`copying: ${total - left} of ${total} tables are complete`);
      before = { left, errors, atMs: performance.now() };
    }
    // PostgreSQL tries again by itself, and may need that after a restart of either.
    if (errors > before.errors + 5 && performance.now() > before.atMs + retriedForMs)
      throw new CommandError(
        'PostgreSQL of the other cell cannot take the account’s rows; its log says why (no connection to this cell’s, or a row that it has). Run the command again when that is mended, or with --undo',
      );
  }
}

/** Nothing that `startReplication` made is left. */
export async function stopReplication(moving: Moving): Promise<void> {
  const { source, target, name } = moving;
  if (await hasSubscription(moving)) {
    if (!(await hasSlot(moving))) await forgetSlot(moving);
    await rowsIn(target, 'move_unsubscribe', `drop subscription ${name}`);
  }
  await rowsIn(
    source,
    'move_drop_slot',
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = '${name}'`,
  );
  await alterTables(moving, (tx) => unpublish(tx, moving));
}
