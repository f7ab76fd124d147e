import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { dayOf } from '../network/es2plus/certificates.ts';
import type { CertificateEnd } from '../platform/telemetry/metrics.ts';
import { every } from '../platform/worker/every.ts';

/** One set of files that belong together: certificate, key and authorities. */
type Loaded = { tls: object; ends: CertificateEnd[] };

type Options<T extends Loaded> = {
  first: T;
  paths: (string | null)[];
  /** Reads and checks all files. Rejects with a message that names the file if one is unusable. */
  read(): Promise<T>;
  use(loaded: T): void;
  log: Logger;
};

export type KeptCertificates = {
  ends(): CertificateEnd[];
  reload(): Promise<void>;
  stop(): Promise<void>;
};

export const expiryWarningMs = 30 * 86_400_000;
// Polled, because file events are unreliable where files are replaced by renaming or through symlinks (Kubernetes).
const pollMs = 10_000;
const warnEveryMs = 86_400_000;

/**
 * Puts changed certificate files into use without a restart, all of a set or none. While a set is incomplete or its key does not
 * match, the old one stays in use, and the log says why.
 */
export function keepCertificates<T extends Loaded>(options: Options<T>): KeptCertificates {
  const { first, paths, read, use, log } = options;
  let current = first;
  let loggedError: string | null = null;
  let reloading: Promise<void> = Promise.resolve();
  let warnedAtMs = 0;
  warn();

  function warn(): void {
    warnedAtMs = performance.now();
    warnOfExpiry(log, current.ends);
  }

  async function compareWithFiles(): Promise<void> {
    try {
      const found = await read();
      loggedError = null;
      if (JSON.stringify(found.tls) === JSON.stringify(current.tls)) return;
      use(found);
      current = found;
      const ends = found.ends.map(({ setting, endsAt }) => [setting, dayOf(endsAt)]);
      log.info({ ends: Object.fromEntries(ends) }, 'certificates were reloaded');
      warn();
    } catch (error) {
      const { message } = error as Error;
      if (message === loggedError) return;
      loggedError = message;
      log.warn({ error: message }, 'certificates cannot be reloaded; the old ones stay in use');
    }
  }

  function reload(): Promise<void> {
    reloading = reloading.then(compareWithFiles);
    return reloading;
  }

  let seen: string | null = null;
  async function reloadIfChanged(): Promise<void> {
    if (performance.now() - warnedAtMs >= warnEveryMs) warn();
    const contents = await readAll(paths);
    // After a failure it is tried again in any case: a certificate becomes valid without a change of its file.
    if (contents === seen && loggedError === null) return;
    seen = contents;
    await reload();
  }

  const polling = every(pollMs, reloadIfChanged, () => {});
  return {
    ends: () => current.ends,
    reload() {
      loggedError = null; // an explicit reload logs its result again
      return reload();
    },
    async stop() {
      await polling.stop();
      await reloading;
    },
  };
}

/** A file that cannot be read counts as empty; `read` says what is wrong with it. */
async function readAll(paths: (string | null)[]): Promise<string> {
  const files = paths.filter((path) => path !== null);
  return JSON.stringify(await Promise.all(files.map((path) => readFile(path, 'utf8').catch(() => ''))));
}

function warnOfExpiry(log: Logger, ends: CertificateEnd[]): void {
  for (const { setting, endsAt } of ends) {
    if (endsAt.getTime() - Date.now() >= expiryWarningMs) continue;
    log.warn({ setting, ends: dayOf(endsAt) }, 'a certificate expires soon; replace its file');
  }
}
