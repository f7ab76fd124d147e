import { existsSync } from 'node:fs';
import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** Whether this machine has the device that every write to fails for lack of space. */
export const canFillDisk = existsSync('/dev/full');

/** Every write inserts into one of these, and reads go on without them. */
const tables = ['idempotency_keys', 'audit_log'];

/**
 * Lets every write fail as on a full disk, and nothing else: these tables get new, empty files, which are replaced by links to
 * `/dev/full` before anyone sees them. PostgreSQL then gets ENOSPC from the kernel when it adds a page. Needs no root and no
 * mount, but the server's `wal_level` must be above `minimal`, at which it would sync the files.
 */
export async function fillDisk(connectionString: string): Promise<void> {
  await emptyTables(connectionString, async (client) => {
    for (const table of tables) {
      const { rows } = await client.query<{ folder: string; file: string }>(
        `select current_setting('data_directory') as folder, pg_relation_filepath($1) as file`,
        [table],
      );
      const path = join(rows[0]?.folder ?? '', rows[0]?.file ?? '');
      await rm(path);
      await symlink('/dev/full', path);
    }
  });
}

/** Gives the tables ordinary files again. */
export function freeDisk(connectionString: string): Promise<void> {
  return emptyTables(connectionString, async () => {});
}

async function emptyTables(connectionString: string, beforeCommit: (client: pg.Client) => Promise<void>) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    await client.query(`begin; truncate ${tables.join(', ')}`);
    await beforeCommit(client);
    await client.query('commit');
  } finally {
    await client.end();
  }
}
