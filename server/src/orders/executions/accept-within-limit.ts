import type { Database } from '../../platform/db/database.ts';
import { createGroupCommit, type GroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { findRoom } from './limit-open.ts';
import { type AcceptRow, acceptExecutionRows, type NewExecution } from './sql/accept.ts';

type Limited = { row: NewExecution; limit: number };
type Result = AcceptRow | { outcome: 'over_limit' };

/** Accounts whose acceptor is kept; the one created first is dropped first. A dropped one still finishes its orders. */
const maxAccounts = 1_000;

/**
 * Accepts the order of an account that may have only so many open ones. Each account has its own batches, one at a time, so that
 * one that waits for the account's lock delays no other account and holds one connection.
 */
export function acceptWithinLimit(db: Database, item: Limited): Promise<Result> {
  const acceptors = acceptorsOf(db);
  const { accountUuid } = item.row;
  let accept = acceptors.get(accountUuid);
  if (!accept) {
    accept = createGroupCommit({ write: (items: Limited[]) => acceptBatch(db, items), mostInFlight: 1 });
    if (acceptors.size >= maxAccounts) acceptors.delete(acceptors.keys().next().value as string);
    acceptors.set(accountUuid, accept);
  }
  return accept(item);
}

const acceptorsOf = perDatabase(() => new Map<string, GroupCommit<Limited, Result>>());

/** Orders that turn out to be retries or refused take no place, so the next ones are tried. */
function acceptBatch(db: Database, items: Limited[]): Promise<Result[]> {
  const { row, limit } = items.at(-1) as Limited;
  return db.transaction(async (tx) => {
    const results: Result[] = [];
    let room = await findRoom(tx, row.accountUuid, limit);
    while (room > 0 && results.length < items.length) {
      const next = items.slice(results.length, results.length + room);
      const tried = await acceptExecutionRows(
        tx,
        next.map(({ row }) => row),
      );
      results.push(...tried);
      room -= tried.filter(({ outcome }) => outcome === 'accepted').length;
    }
    return [...results, ...items.slice(results.length).map((): Result => ({ outcome: 'over_limit' }))];
  });
}
