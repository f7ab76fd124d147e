import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import { type Keyring, prefixOf, UnreadableSecret } from './keyring.ts';
import { type SealedColumn, sealedColumns } from './sealed-columns.ts';
import {
  countStale,
  findPageEnd,
  lockSealingKeys,
  lockStale,
  type RowKey,
  recordResealed,
  recordSealingKey,
  replaceSecrets,
  sampleSecrets,
} from './sql.ts';

export type Unreadable = { table: string; account: string; row: string; why: string };

export type ResealResult = {
  resealed: { column: string; table: string; count: number }[];
  /** How many secrets could not be opened and were left unchanged. `unreadable` lists the first of them. */
  unreadableCount: number;
  unreadable: Unreadable[];
  /** All other secrets are sealed with the first key. */
  isComplete: boolean;
};

type Options = {
  db: Database;
  keyring: Keyring;
  /** Called every few seconds. */
  onProgress(column: SealedColumn, count: number): void;
};

// Rows locked per transaction. 200 rows take 11 ms, p99 32 ms on a busy 2-core machine; an order on such a row waits that long.
const pageRows = 200;
// Rows read per statement, without locks.
const checkedRows = 5_000;
const maxPasses = 20;
const pauseMs = 500;
const reportEveryMs = 5_000;
const maxListed = 100;

/**
 * Rewrites every secret that is not sealed with the first key in the current format. Safe to run beside the service and other
 * runs: it skips locked rows and retries them in a later pass. It ends after a full pass without changes or skipped rows.
 */
export async function reseal(options: Options): Promise<ResealResult> {
  const counts = new Map(sealedColumns.map(({ id }) => [id, 0]));
  let isComplete = false;
  let unreadableCount = 0;
  let unreadable: Unreadable[] = [];
  for (let pass = 0; pass < maxPasses && !isComplete; pass++) {
    if (pass > 0) await sleep(pauseMs);
    let isIdle = true;
    unreadableCount = 0;
    unreadable = [];
    for (const column of sealedColumns) {
      const walked = await walk(options, column);
      counts.set(column.id, (counts.get(column.id) ?? 0) + walked.changed);
      unreadableCount += walked.unreadableCount;
      unreadable.push(...walked.unreadable.slice(0, maxListed - unreadable.length));
      if (walked.changed + walked.skipped > 0) isIdle = false;
    }
    isComplete = isIdle && (unreadableCount > 0 || (await recordIfNoneIsStale(options)));
  }
  const resealed = sealedColumns.map(({ id, table }) => ({ column: id, table, count: counts.get(id) ?? 0 }));
  return { resealed, unreadableCount, unreadable, isComplete };
}

/**
 * Looks once more while no process can record its key: one that started during the pass may have sealed with another. Recorded only
 * then, because from then on secrets in the old format can no longer be read.
 */
function recordIfNoneIsStale({ db, keyring }: Options): Promise<boolean> {
  const prefix = prefixOf(keyring);
  return db.transaction(async (tx) => {
    await lockSealingKeys(tx);
    for (const column of sealedColumns) {
      let after: RowKey | null = null;
      for (;;) {
        const end: RowKey | null = await findPageEnd(tx, column, after, checkedRows);
        if (!end) break;
        if ((await countStale(tx, column, { after, end }, prefix)) > 0) return false;
        after = end;
      }
    }
    await recordResealed(tx, keyring.keyId);
    return true;
  });
}

type Walked = { changed: number; skipped: number; unreadableCount: number; unreadable: Unreadable[] };

const nothing: Walked = { changed: 0, skipped: 0, unreadableCount: 0, unreadable: [] };

async function walk({ db, keyring, onProgress }: Options, column: SealedColumn): Promise<Walked> {
  const total: Walked = { ...nothing, unreadable: [] };
  let reportedAtMs = performance.now();
  let after: RowKey | null = null;
  for (;;) {
    const end: RowKey | null = await findPageEnd(db, column, after, pageRows);
    if (!end) return total;
    const page = await rewrite(db, keyring, column, { after, end });
    total.changed += page.changed;
    total.skipped += page.skipped;
    total.unreadableCount += page.unreadableCount;
    total.unreadable.push(...page.unreadable.slice(0, maxListed - total.unreadable.length));
    after = end;
    if (performance.now() - reportedAtMs >= reportEveryMs) {
      reportedAtMs = performance.now();
      onProgress(column, total.changed);
    }
  }
}

async function rewrite(
  db: Database,
  keyring: Keyring,
  column: SealedColumn,
  page: { after: RowKey | null; end: RowKey },
): Promise<Walked> {
  const prefix = prefixOf(keyring);
  const found = await countStale(db, column, page, prefix);
  if (found === 0) return nothing;
  return db.transaction(async (tx) => {
    const unreadable: Unreadable[] = [];
    const changes: { key: RowKey; stored: string; sealed: string | null }[] = [];
    const locked = await lockStale(tx, column, page, prefix);
    for (const { key, stored, row, isOver } of locked) {
      const place = column.place({ key, row });
      try {
        const sealed = isOver ? null : keyring.seal(await keyring.open(stored, place), place);
        changes.push({ key, stored, sealed });
      } catch (error) {
        if (!(error instanceof UnreadableSecret)) throw error;
        unreadable.push({ table: column.table, account: key[0] ?? '', row, why: error.why });
      }
    }
    if (changes.length > 0) await recordSealingKey(tx, keyring.keyId);
    const changed = changes.length === 0 ? 0 : await replaceSecrets(tx, column, changes);
    const skipped = Math.max(0, found - locked.length);
    return { changed, skipped, unreadableCount: unreadable.length, unreadable };
  });
}

const perColumn = 20;

/** Opens a few stored secrets of each kind. Returns how many were tried and why some could not be opened. */
export async function openSamples(
  db: Database,
  keyring: Keyring,
): Promise<{ count: number; unreadable: string[] }> {
  let count = 0;
  const unreadable: string[] = [];
  for (const column of sealedColumns) {
    for (const { key, stored, row } of await sampleSecrets(db, column, perColumn)) {
      count += 1;
      try {
        await keyring.open(stored, column.place({ key, row }));
      } catch (error) {
        if (!(error instanceof UnreadableSecret)) throw error;
        unreadable.push(`${column.id}: ${error.why}`);
      }
    }
  }
  return { count, unreadable };
}
