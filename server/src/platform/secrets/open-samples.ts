import type { Database } from '../db/database.ts';
import { type Keyring, UnreadableSecret } from './keyring.ts';
import { sealedColumns } from './sealed-columns.ts';
import { sampleSecrets } from './sql.ts';

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
