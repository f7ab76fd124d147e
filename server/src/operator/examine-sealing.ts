import type { Config } from '../config/settings.ts';
import type { Database } from '../db/database.ts';
import { findEncryptionKeys } from '../secrets/encryption-keys.ts';
import { keyIdOf } from '../secrets/keyring.ts';
import { findSealingState } from '../secrets/sql.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Whether stored secrets may still be in an earlier form, or need a key that should go. Asks what the last `reseal` recorded. */
export async function examineSealing(db: Database, config: Config): Promise<Finding> {
  const [state, keys] = await Promise.all([findSealingState(db), findEncryptionKeys(config)]);
  if (state?.old_form_refused_at === null) {
    return warning(
      'secrets',
      'some may be stored as an earlier release did, bound to no row or in the clear; run `simplane-server reseal`',
    );
  }
  const [first, ...others] = keys.map(keyIdOf);
  if (first === undefined) return ok('secrets', 'no encryption key yet; the first `serve` makes one');
  if (state?.resealed_key_id === first) {
    const since = state.resealed_at?.toISOString();
    return ok(
      'secrets',
      `all were sealed with the key ${first} at ${since}${others.length > 0 ? `; ${others.join(', ')} may be removed` : ''}`,
    );
  }
  if (others.length === 0) return ok('secrets', `sealed with the key ${first}`);
  return warning(
    'secrets',
    `new ones are sealed with the key ${first}, older ones may need ${others.join(', ')}; run \`simplane-server reseal\` before you remove a key`,
  );
}
