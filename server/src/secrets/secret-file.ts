import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The text of a file that is made once, for its owner alone; every start finds the same. */
export async function readOrCreateSecretFile(path: string, create: () => string): Promise<string> {
  const kept = await readIfThere(path);
  if (kept !== null) return kept;
  await mkdir(dirname(path), { recursive: true });
  // Written aside and linked into place: of two first starts one wins, and nobody ever reads half a secret.
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${create()}\n`, { mode: 0o600, flush: true });
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  await flushFolder(dirname(path));
  return (await readIfThere(path)) as string;
}

async function readIfThere(path: string): Promise<string | null> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
}

/** What the secret is used for may be on disk a moment later; the file must not be what a power cut takes. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
