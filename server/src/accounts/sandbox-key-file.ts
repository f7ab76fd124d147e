import { join } from 'node:path';
import { readOrCreateSecretFile } from '../platform/secrets/secret-file.ts';
import { generateApiKey, sandboxKeyPattern } from './api-key-text.ts';

export function sandboxKeyFile(dataDir: string): string {
  return join(dataDir, 'sandbox-api-key');
}

/** Reads the sandbox key from the data folder. The first start generates it; only the file's owner can read it. */
export async function readOrCreateSandboxKey(dataDir: string): Promise<string> {
  const path = sandboxKeyFile(dataDir);
  const key = await readOrCreateSecretFile(path, () => generateApiKey('sandbox'));
  if (!sandboxKeyPattern.test(key)) {
    throw new Error(
      `${path} does not contain a key that begins with sp_test_ and has at least 16 more characters; delete the file to get a new one`,
    );
  }
  return key;
}
