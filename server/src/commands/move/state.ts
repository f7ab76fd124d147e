import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type Moving, rowsIn } from './parts.ts';

type State = 'copying' | 'frozen' | 'moved' | 'arriving';

/** How far the move is in a cell; null before it begins, and where it has ended. */
export async function readState(db: Queryable, accountUuid: string): Promise<State | null> {
  const [row] = await rowsIn<{ state: State }>(
    db,
    'move_read_state',
    'select state from account_moves where account_id = $1',
    [accountUuid],
  );
  return row?.state ?? null;
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
