import { closeSync, openSync, readSync, statSync } from 'node:fs';

type Options<T> = {
  path: string;
  parse(text: string): T;
  /** How long a change may go unnoticed. */
  checkEveryMs?: number;
  monotonicMs?: () => number;
};

const mostBytes = 1024 * 1024;

/**
 * A small configuration file as parsed last, read again when it has changed; empty when it cannot be read. Synchronous on
 * purpose: asynchronous file access queues behind whatever fills libuv's thread pool.
 */
export function watchedFile<T>({
  path,
  parse,
  checkEveryMs = 1_000,
  monotonicMs = now,
}: Options<T>): () => T {
  let value: T | undefined;
  let version: string | undefined;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = monotonicMs();
    if (value !== undefined && nowMs - checkedAtMs < checkEveryMs) return value;
    checkedAtMs = nowMs;
    const found = versionOf(path);
    if (value === undefined || found !== version) {
      version = found;
      value = parse(readStart(path));
    }
    return value;
  };
}

function versionOf(path: string): string {
  try {
    const { mtimeMs, size, ino } = statSync(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return 'unreadable';
  }
}

function readStart(path: string): string {
  try {
    const file = openSync(path, 'r');
    try {
      const bytes = Buffer.alloc(mostBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, mostBytes, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return '';
  }
}

function now(): number {
  return performance.now();
}
