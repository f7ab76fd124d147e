import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateApiKey, keyPrefix } from './api-key-text.ts';

/** The sandbox's own key: made once, kept in the data folder for its owner alone, the same at every start. */
export async function readOrCreateSandboxKey(dataDir: string): Promise<string> {
  const path = join(dataDir, 'sandbox-api-key');
  await mkdir(dataDir, { recursive: true });
  const kept = await readKept(path);
  if (kept !== null) return kept;
  // Written aside and linked into place: of two first starts one wins, and nobody ever reads half a key.
  const draft = `${path}.${randomUUID()}`;
  await writeFile(draft, `${generateApiKey('sandbox')}\n`, { mode: 0o600 });
  await link(draft, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(draft);
  return (await readKept(path)) as string;
}

async function readKept(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const key = text.trim();
  if (!key.startsWith(keyPrefix.sandbox)) {
    throw new Error(
      `${path} does not hold a key that begins with ${keyPrefix.sandbox}; delete the file to get a new one`,
    );
  }
  return key;
}
