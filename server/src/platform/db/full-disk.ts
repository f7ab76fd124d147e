import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

type FullDisk = {
  /** Call with the error of every statement. */
  notice(error: unknown): void;
  isFull(): boolean;
  stop(): void;
};

type Options = {
  /** Makes PostgreSQL write a file, which it removes again. */
  writeScratchFile(): Promise<unknown>;
  onChange(isFull: boolean): void;
  checkEveryMs?: number;
};

/**
 * Remembers that PostgreSQL's disk is full: from the first statement that fails for it, until none has failed since the last check
 * and a file can be written. On a full disk some writes still succeed, those that fit into existing pages, so they prove nothing.
 */
export function createFullDisk({ writeScratchFile, onChange, checkEveryMs = 5_000 }: Options): FullDisk {
  let isFull = false;
  let hasFailed = false;
  let isStopped = false;

  async function untilThereIsRoom(): Promise<void> {
    do {
      hasFailed = false;
      await delay(checkEveryMs, undefined, { ref: false });
    } while (!isStopped && (hasFailed || !(await hasRoom())));
    isFull = false;
    if (!isStopped) onChange(false);
  }

  /** Another error than a full disk is no reason to report one. */
  function hasRoom(): Promise<boolean> {
    return writeScratchFile().then(
      () => true,
      (error: unknown) => error instanceof pg.DatabaseError && !isDiskFull(error),
    );
  }

  return {
    notice(error) {
      if (!isDiskFull(error)) return;
      hasFailed = true;
      if (isFull) return;
      isFull = true;
      onChange(true);
      untilThereIsRoom().catch(() => {}); // it handles its own errors
    },
    isFull: () => isFull,
    stop() {
      isStopped = true;
    },
  };
}

function isDiskFull(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '53100';
}

/** The result of a function in `from` goes through a temporary file if it is larger than `work_mem`; this one is of about 1 MB. */
export const scratchFile = {
  begin: `begin; set local work_mem = '64kB'`,
  statement: { name: 'disk_write_scratch_file', text: 'select count(*) from generate_series(1, 50000)' },
};
