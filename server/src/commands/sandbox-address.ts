import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

/** Where a sandbox on this data folder listens now; null if none does. */
export async function readAddress(dataDir: string): Promise<string | null> {
  try {
    const { url, pid }: { url: string; pid: number } = JSON.parse(
      await readFile(join(dataDir, 'sandbox-address'), 'utf8'),
    );
    process.kill(pid, 0); // throws if it was killed and left the file behind
    return url;
  } catch {
    return null;
  }
}

/**
 * Writes where this sandbox listens into its data folder, for `simplane` in the same folder. The pid tells a running
 * sandbox from one that was killed. Optional: a folder that does not exist or is read-only is left alone.
 */
export async function publishAddress(
  dataDir: string,
  url: string,
  log: Logger,
): Promise<{ remove(): Promise<void> }> {
  const path = join(dataDir, 'sandbox-address');
  const text = `${JSON.stringify({ url, pid: process.pid })}\n`;
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, text, { mode: 0o644 });
    await rename(draft, path);
  } catch (error) {
    log.debug({ path, error: (error as Error).message }, 'the address was not written');
  }
  return {
    async remove() {
      // Another process of this deployment may have written its own address since.
      const current = await readFile(path, 'utf8').catch(() => '');
      if (current === text) await rm(path, { force: true }).catch(() => {});
    },
  };
}
