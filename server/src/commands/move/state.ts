import { type Cell, nameOf } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { CommandError } from '../command-error.ts';
import { type Moving, rowsIn } from './parts.ts';

type State = 'copying' | 'frozen' | 'moved' | 'arriving';

/** How far the move is in a cell; null before it begins, and where it has ended. */
export async function readState(db: Queryable, accountUuid: string): Promise<State | null> {
  return (await readMove(db, accountUuid))?.state ?? null;
}

async function readMove(db: Queryable, accountUuid: string) {
  const text = 'select state, cell from account_moves where account_id = $1';
  const [row] = await rowsIn<{ state: State; cell: Cell }>(db, 'move_read_state', text, [accountUuid]);
  return row;
}

/** Throws if the account comes here, or is in another cell or on its way there: it must not arrive in two. */
export async function requireThisMove({ source, accountUuid, cells }: Moving): Promise<void> {
  const begun = await readMove(source, accountUuid);
  if (begun?.state === 'arriving')
    throw new CommandError('the account is arriving here; run the command in the cell it comes from');
  if (begun && begun.cell !== cells.target)
    throw new CommandError(
      `the account is in ${nameOf(begun.cell)}, or on its way there, and --to is ${nameOf(cells.target)}`,
    );
}

/** `cell` is the other one. */
export async function setState(
  tx: Queryable,
  { accountUuid }: Moving,
  state: State,
  cell: Cell,
): Promise<void> {
  await rowsIn(
    tx,
    'move_set_state',
    `insert into account_moves (account_id, state, cell)
values ($1, $2, $3)
on conflict (account_id) do update
set state = excluded.state, cell = excluded.cell, changed_at = now()`,
    [accountUuid, state, cell],
  );
}

/** The account belongs to this cell alone. */
export async function forgetMove(tx: Queryable, accountUuid: string): Promise<void> {
  await rowsIn(tx, 'move_forget', 'delete from account_moves where account_id = $1', [accountUuid]);
}
