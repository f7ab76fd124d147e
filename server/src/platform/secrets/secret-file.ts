import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Reads a secret from a file, which is created on the first start and readable only by its owner. */
export async function readOrCreateSecretFile(path: string, create: () => string): Promise<string> {
  const existing = await readIfExists(path);
  if (existing !== null) return existing;
  await mkdir(dirname(path), { recursive: true });
  // Written to a draft and linked: of two concurrent first starts one wins, and a partial file is never read.
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
  return (await readIfExists(path)) as string;
}

async function readIfExists(path: string): Promise<string | null> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    },
  );
}

/** The file must survive a power failure, because data encrypted with the secret may be on disk a moment later. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
