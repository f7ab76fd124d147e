import { AppError } from '../../platform/app-error.ts';
import { nameOf } from '../../platform/cell.ts';
import type { Account } from '../context.ts';

/** Throws if the account has left for another cell, or is not here yet. */
export function requireHere({ move }: Pick<Account, 'move'>): void {
  if (move === null || move.state === 'frozen') return;
  throw new AppError('wrong_cell', `This account is in ${nameOf(move.cell)}. Send the request there.`, {
    ...(move.cell !== null && { cell: move.cell }),
  });
}

/** Throws in the last seconds before the account leaves. It can still be read. */
export function requireUnfrozen({ move }: Pick<Account, 'move'>): void {
  if (move === null) return;
  throw beingMoved('This account');
}

export function beingMoved(what: string): AppError {
  return new AppError('unavailable', `${what} is being moved to another cell; retry shortly.`, {
    headers: { 'Retry-After': '1' },
  });
}

/** Throws if a change of the account itself, by an operator or a command, would be lost or stay without effect. */
export function requireChangeable(account: Pick<Account, 'move'>): void {
  requireHere(account);
  requireUnfrozen(account);
}
