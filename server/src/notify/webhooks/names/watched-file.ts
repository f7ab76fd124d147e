import { closeSync, openSync, readSync, statSync } from 'node:fs';

type Options<T> = {
  path: string;
  parse(text: string): T;
  /** How long a change may go unnoticed. */
  checkIntervalMs?: number;
  monotonicMs?: () => number;
};

const maxBytes = 1024 * 1024;

/**
 * Caches a small, parsed configuration file and re-reads it after a change. An unreadable file counts as empty. Synchronous on
 * purpose: asynchronous file access waits whenever libuv's thread pool is full.
 */
export function watchedFile<T>({
  path,
  parse,
  checkIntervalMs = 1_000,
  monotonicMs = now,
}: Options<T>): () => T {
  let value: T | undefined;
  let version: string | undefined;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = monotonicMs();
    if (value !== undefined && nowMs - checkedAtMs < checkIntervalMs) return value;
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
      const bytes = Buffer.alloc(maxBytes);
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, maxBytes, 0));
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
