import { setTimeout as sleep } from 'node:timers/promises';
import type { Cell } from '../../platform/cell.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { CommandError } from '../command-error.ts';
import type { Tools } from '../with-database.ts';

/** One account on its way from one cell to another. */
export type Moving = {
  tools: Tools;
  source: Database;
  target: Database;
  accountUuid: string;
  /** Of the publication, the subscription and the triggers. */
  name: string;
  /** Where the target's PostgreSQL reaches the source's. */
  sourceUrl: string;
  cells: { source: Cell; target: Cell };
  say(text: string): void;
};

/** Runs a statement of this command. A process moves one account, so a text may hold its id. */
export function rowsIn<Row extends object>(
  db: Queryable,
  name: string,
  text: string,
  values: unknown[] = [],
) {
  return db.query<Row>({ name, text }, values);
}

// Longer than any of it takes; the account is frozen meanwhile.
const patienceMs = 30_000;

/** Polls until the condition is met. Throws if that takes so long that the operator should know. */
export async function untilFrozen(isMet: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await isMet())) {
    if (performance.now() > endMs)
      throw new CommandError(
        `${what}. The account stays frozen: run the command again when that is mended, or with --undo`,
      );
    await sleep(20);
  }
}
