import type pg from 'pg';

/** A migration with a line `-- in-batches: <query that counts the rows to move>` runs again and again until it moves no rows. */
const marker = /^-- in-batches: (.+)$/m;

// Measured at 10,000 rows a batch, on two cores with fsync on. Later notices use the rate of the running migration.
const usualRowsPerSecond = 20_000;
const noticeEveryMs = 5_000;

type Options = {
  client: pg.Client;
  migration: { name: string; text: string };
  /** Runs in its own transaction, under the migration lock; null if another process has applied the migration. */
  inLockedTransaction(work: () => Promise<number>): Promise<number | null>;
  /** Marks the migration as applied. */
  record(): Promise<void>;
  onNotice(message: string): void;
};

export function isInBatches(text: string): boolean {
  return marker.test(text);
}

/**
 * Moves one batch of rows per transaction until none are left, then records the migration. After a kill, the next run continues
 * with the remaining rows. Returns false if another process has finished it.
 */
export async function applyInBatches(options: Options): Promise<boolean> {
  const { client, inLockedTransaction, record, onNotice } = options;
  const { name, text } = options.migration;
  const startedAtMs = performance.now();
  let noticedAtMs = startedAtMs;
  let moved = 0;
  let total: number | null = null;
  for (;;) {
    const batch = await inLockedTransaction(async () => {
      if (total === null) {
        total = await countRows(client, text);
        const seconds = Math.ceil(total / usualRowsPerSecond);
        if (total > 0) onNotice(`migration ${name} moves ${total} rows, which takes about ${seconds} s`);
      }
      const results = [await client.query(text)].flat();
      const rows = results.reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0);
      if (rows === 0) await record();
      return rows;
    });
    if (batch === null) return false;
    if (batch === 0) return true;
    moved += batch;
    const nowMs = performance.now();
    if (nowMs - noticedAtMs < noticeEveryMs) continue;
    noticedAtMs = nowMs;
    const left = Math.max(0, (total ?? 0) - moved);
    const secondsLeft = Math.ceil((left / moved) * ((nowMs - startedAtMs) / 1_000));
    onNotice(`migration ${name}: ${moved} rows moved, ${left} left, about ${secondsLeft} s`);
  }
}

async function countRows(client: pg.Client, text: string): Promise<number> {
  const [, query = ''] = marker.exec(text) ?? [];
  const { rows } = await client.query<{ count: string }>(query);
  return Number(rows[0]?.count ?? 0);
}
