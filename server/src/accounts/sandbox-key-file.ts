import { join } from 'node:path';
import { readOrCreateSecretFile } from '../read-or-create-secret-file.ts';
import { generateApiKey, keyPrefix } from './api-key-text.ts';

/** The sandbox's own key: made once, kept in the data folder for its owner alone, the same at every start. */
export async function readOrCreateSandboxKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'sandbox-api-key');
  const key = await readOrCreateSecretFile(path, () => generateApiKey('sandbox'));
  if (!key.startsWith(keyPrefix.sandbox)) {
    throw new Error(
      `${path} does not hold a key that begins with ${keyPrefix.sandbox}; delete the file to get a new one`,
    );
  }
  return key;
}
