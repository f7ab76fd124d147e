import { setTimeout as sleep } from 'node:timers/promises';
import { findAccount } from '../../accounts/sql/accounts.ts';
import { openDatabase } from '../../platform/db/database.ts';
import { accountOf } from '../account-of.ts';
import { CommandError } from '../command-error.ts';
import type { Tools } from '../with-database.ts';
import { checkCells, checkLabels } from './check.ts';
import { freeze, recordStep, removeGuards, thaw } from './freeze.ts';
import { compare, handOver, removeRows } from './hand-over.ts';
import { type Moving, rowsIn } from './parts.ts';
import { startReplication, stopReplication, untilCopied } from './replicate.ts';
import { forgetMove, readState, requireThisMove, setState } from './state.ts';
import { carried, replicated } from './tables.ts';

type Options = { to: string; from?: string; undo: boolean };

/** Moves an account to the cell with this database, or goes on where the command was interrupted (docs/cells.md). */
export async function moveAccountCommand(tools: Tools, id: string, options: Options): Promise<void> {
  const accountUuid = await accountOf(tools, id);
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  const target = openDatabase({
    connectionString: options.to,
    poolSize: 2,
    onError: (error) => say(`connection to the other cell lost: ${error.message}`),
  });
  try {
    const { cell = null } = await checkCells(tools.db, target, accountUuid);
    checkLabels(tools.cell, cell);
    const moving: Moving = {
      ...{ tools, source: tools.db, target, accountUuid, say },
      name: `simplane_move_${accountUuid.replaceAll('-', '')}`,
      sourceUrl: options.from ?? tools.connectionString,
      cells: { source: tools.cell, target: cell },
    };
    await alone(moving, options.undo ? undo : move);
  } finally {
    await target.end();
  }
}

// A run that was killed has its lock until PostgreSQL notices.
const lockMs = 5_000;

/** Two runs of the command for one account would each undo what the other has done. */
async function alone(moving: Moving, work: (moving: Moving) => Promise<void>): Promise<void> {
  const holder = await moving.source.pool.connect();
  try {
    const lock = () =>
      holder.query<{ is_ours: boolean }>('select pg_try_advisory_lock(hashtextextended($1, 0)) as is_ours', [
        moving.name,
      ]);
    for (const endMs = performance.now() + lockMs; !(await lock()).rows[0]?.is_ours; await sleep(100))
      if (performance.now() > endMs) throw new CommandError('the command already runs for this account');
    await requireThisMove(moving);
    await work(moving);
  } finally {
    holder.release(true); // closing it ends the lock
  }
}

/** Each step may be repeated, so after a kill it begins with the first that is not known to be done. */
async function move(moving: Moving): Promise<void> {
  const { source, accountUuid, say } = moving;
  const state = await readState(source, accountUuid);
  if (state !== 'moved' && !(await hasArrived(moving))) {
    if (state === null) await begin(moving);
    await expectIn(moving);
    await startReplication(moving);
    await untilCopied(moving);
    await freeze(moving);
    await compare(moving);
    await handOver(moving);
  }
  await source.transaction((tx) => setState(tx, moving, 'moved', moving.cells.target));
  // At once, so that the router learns it while the rest takes its time.
  await printMap(moving);
  await stopReplication(moving);
  await untilKnown(moving);
  say('moved: the old cell answers 421');
  await leave(moving);
}

// As for all that processes know of an account (docs/keys.md): until then, one that still takes it for its own would read what is gone.
const knownAfter = '5 seconds';

async function untilKnown({ source, accountUuid }: Moving): Promise<void> {
  const text = `select from account_moves where account_id = $1 and changed_at < now() - interval '${knownAfter}'`;
  while ((await rowsIn(source, 'move_known', text, [accountUuid])).length === 0) await sleep(100);
}

/** Past the point of no return: the account works in the target. */
async function hasArrived({ source, target, accountUuid }: Moving): Promise<boolean> {
  if ((await readState(target, accountUuid)) !== null) return false;
  if ((await findAccount(target, accountUuid)) === null) return false;
  if ((await readState(source, accountUuid)) === null)
    throw new CommandError('the other cell has an account with this id');
  return true;
}

async function begin(moving: Moving): Promise<void> {
  await moving.source.transaction(async (tx) => {
    await setState(tx, moving, 'copying', moving.cells.target);
    await recordStep(tx, moving, 'account.move_started');
  });
}

/** What an earlier stay has left there would be in the way, also what a process wrote late: statistics, a logged request. */
async function expectIn(moving: Moving): Promise<void> {
  const { target, accountUuid } = moving;
  if ((await readState(target, accountUuid)) === 'arriving') return;
  for (const table of replicated) await removeRows(target, table, accountUuid);
  await target.transaction((tx) => setState(tx, moving, 'arriving', moving.cells.source));
}

/** Removes what the old cell does not need: all but the keys, by which it says where the account is, and what retention removes. */
async function leave(moving: Moving): Promise<void> {
  const { source, accountUuid } = moving;
  await removeRows(source, { name: 'endpoint_leases', rows: 'account_id = $1' }, accountUuid);
  for (const table of carried.toReversed())
    if (!table.staysBehind) await removeRows(source, table, accountUuid);
  for (const table of replicated) if (!table.staysBehind) await removeRows(source, table, accountUuid);
  await removeGuards(moving);
}

async function undo(moving: Moving): Promise<void> {
  const { source, target, accountUuid, say } = moving;
  const state = await readState(source, accountUuid);
  if (state === null) throw new CommandError('the account is not being moved');
  if (state === 'moved' || (await hasArrived(moving)))
    throw new CommandError('the account is in the other cell; to bring it back, move it from there');
  await stopReplication(moving);
  for (const table of replicated) await removeRows(target, table, accountUuid);
  await target.transaction(async (tx) => {
    // It was there before, and its keys still say where it is.
    if (await findAccount(tx, accountUuid)) await setState(tx, moving, 'moved', moving.cells.source);
    else await forgetMove(tx, accountUuid);
  });
  await thaw(moving);
  await source.transaction(async (tx) => {
    await forgetMove(tx, accountUuid);
    await recordStep(tx, moving, 'account.move_undone');
  });
  say('undone: the account is here as before');
}

/** For routers: the hashes of what was handed out with the old cell's label, and the new cell. */
async function printMap({ target, accountUuid, cells }: Moving): Promise<void> {
  const rows = await rowsIn<{ hash: string }>(
    target,
    'move_map',
    `select encode(hash, 'hex') as hash from api_keys where account_id = $1 and revoked_at is null
union all
select encode(hash, 'hex') from install_links where account_id = $1`,
    [accountUuid],
  );
  for (const { hash } of rows) process.stdout.write(`${hash} ${cells.target ?? 'first'}\n`);
}
