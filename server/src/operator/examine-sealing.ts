import type { Config } from '../config/settings.ts';
import type { Database } from '../db/database.ts';
import { findEncryptionKeys } from '../secrets/encryption-keys.ts';
import { keyIdOf } from '../secrets/keyring.ts';
import { findSealingState } from '../secrets/sql.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Checks if stored secrets may be in an old format or need a retired key, using what the last `reseal` recorded. */
export async function examineSealing(db: Database, config: Config): Promise<Finding> {
  const [state, keys] = await Promise.all([findSealingState(db), findEncryptionKeys(config)]);
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
