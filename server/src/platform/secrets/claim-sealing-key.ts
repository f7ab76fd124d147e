import { AppError } from '../app-error.ts';
import type { Database } from '../db/database.ts';
import { type Keyring, keyIdOf } from './keyring.ts';
import { listSealingKeys, lockSealingKeys, recordSealingKey } from './sql.ts';

/**
 * Records that this process encrypts with its first key. If stored secrets may need a key that it does not have, records nothing
 * and returns the ids of the missing keys: secrets encrypted with a wrong key would be unreadable for every other process.
 */
export function claimSealingKey(db: Database, keys: Buffer[]): Promise<string[]> {
  const [first, ...others] = keys.map(keyIdOf) as [string, ...string[]];
  return db.transaction(async (tx) => {
    await lockSealingKeys(tx);
    const missing = missingFrom(await listSealingKeys(tx), [first, ...others]);
    if (missing.length === 0) await recordSealingKey(tx, first);
    return missing;
  });
}

/** The keys that stored secrets may need and that are not among the given ones. */
export async function findMissingKeys(db: Database, keys: Buffer[]): Promise<string[]> {
  return missingFrom(await listSealingKeys(db), keys.map(keyIdOf));
}

/** Cause and remedy for the operator. Key ids are not secret. */
export function describeMissingKeys(missing: string[]): string {
  const which =
    missing.length === 1 ? `key ${missing[0]}, which is` : `keys ${missing.join(', ')}, which are`;
  return `stored secrets need encryption ${which} not in SIMPLANE_ENCRYPTION_KEYS (or the data folder’s \`encryption-key\`): put it back; if it is lost, run \`simplane-server reseal --lost-key ${missing[0]}\``;
}

function missingFrom(needed: string[], present: string[]): string[] {
  return needed.filter((id) => !present.includes(id));
}

/** For a process without a key that stored secrets need: it opens what it can, and seals nothing with its unrecorded key. */
export function refuseSealing(keyring: Keyring, missingKeys: string[]): Keyring {
  return {
    ...keyring,
    seal() {
      throw new AppError(
        'unavailable',
        'Secrets cannot be stored at the moment; retry shortly. If it persists, tell the operator.',
        {
          cause: new Error(describeMissingKeys(missingKeys)),
          headers: { 'Retry-After': '1' },
        },
      );
    },
  };
}
