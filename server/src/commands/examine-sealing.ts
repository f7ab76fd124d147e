import type { Config } from '../config/settings.ts';
import type { Database } from '../platform/db/database.ts';
import { describeMissingKeys, findMissingKeys } from '../platform/secrets/claim-sealing-key.ts';
import { findEncryptionKeys } from '../platform/secrets/encryption-keys.ts';
import { createKeyring, keyIdOf } from '../platform/secrets/keyring.ts';
import { createOldFormCheck } from '../platform/secrets/old-form.ts';
import { openSamples } from '../platform/secrets/reseal.ts';
import { findSealingState } from '../platform/secrets/sql.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Checks that the keys open what is stored, and if a `reseal` is due. */
export async function examineSealing(db: Database, config: Config): Promise<Finding> {
  const [state, keys] = await Promise.all([findSealingState(db), findEncryptionKeys(config)]);
  const misfit = await findMisfit(db, keys);
  if (misfit) return problem('secrets', misfit);
  if (state?.old_form_refused_at === null) {
    return warning(
      'secrets',
      'some may be in the format of an earlier release, unencrypted or not bound to their row; run `simplane-server reseal`',
    );
  }
  const [first, ...others] = keys.map(keyIdOf);
  if (first === undefined) return ok('secrets', 'no encryption key yet; the first `serve` creates one');
  if (state?.resealed_key_id === first) {
    const since = state.resealed_at?.toISOString();
    return ok(
      'secrets',
      `all encrypted with key ${first} at ${since}${others.length > 0 ? `; ${others.join(', ')} may be removed` : ''}`,
    );
  }
  if (others.length === 0) return ok('secrets', `encrypted with key ${first}`);
  return warning(
    'secrets',
    `new ones are encrypted with key ${first}, older ones may need ${others.join(', ')}; run \`simplane-server reseal\` before you remove a key`,
  );
}

/** Compares the keys with the register of keys in use, and opens a few secrets of each kind. Null if all is well. */
async function findMisfit(db: Database, keys: Buffer[]): Promise<string | null> {
  const missing = await findMissingKeys(db, keys);
  if (missing.length > 0) return describeMissingKeys(missing);
  if (keys.length === 0) return null;
  const keyring = createKeyring(keys, { isOldFormRefused: createOldFormCheck(db) });
  const { count, unreadable } = await openSamples(db, keyring);
  if (unreadable.length === 0) return null;
  const reasons = [...new Set(unreadable)].join('; ');
  return `${unreadable.length} of ${count} stored secrets that were tried cannot be decrypted (${reasons}); \`simplane-server reseal\` lists all of them`;
}
