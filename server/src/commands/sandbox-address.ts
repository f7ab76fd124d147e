import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';

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
