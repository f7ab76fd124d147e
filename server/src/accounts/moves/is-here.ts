import type { Cell } from '../../platform/cell.ts';

/** An account that has left for another cell, is about to, or comes from there. `cell` is the other one. */
export type Move = { state: 'frozen' | 'moved' | 'arriving'; cell: Cell };

/** SQL: the move of an account as an object; null while it works here. */
export function moveOf(account: string): string {
  return `(
    select jsonb_build_object('state', state, 'cell', cell)
    from account_moves
    where account_moves.account_id = ${account} and state <> 'copying')`;
}

/** SQL: the account of a row has left for another cell, or arrives from one that still has it. */
export function isElsewhere(account: string): string {
  return `exists (
    select from account_moves
    where account_moves.account_id = ${account} and account_moves.state in ('moved', 'arriving'))`;
}

/** SQL: the account of a row has left a moment ago: its new cell may have been asked before it came. */
export function hasJustLeft(account: string): string {
  return `exists (
    select from account_moves
    where account_moves.account_id = ${account} and account_moves.state = 'moved'
      and account_moves.changed_at > now() - interval '1 minute')`;
}

/**
 * SQL: the account of a row neither arrives from another cell nor has left for one. For statements that find work of any account; what
 * has a lease needs it not, because a move takes the leases.
 */
export function isHere(account: string): string {
  return `not exists (
    select from account_moves
    where account_moves.account_id = ${account} and account_moves.state <> 'copying')`;
}
