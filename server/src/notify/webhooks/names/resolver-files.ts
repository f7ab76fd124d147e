import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname as machineName } from 'node:os';

export type SearchList = { domains: string[]; ndots: number };

export const noSearchList: SearchList = { domains: [], ndots: 1 };

// Kubernetes' limit for a pod's DNS settings; each domain costs one more query.
const maxDomains = 32;
const maxNdots = 15;

/** Parses `search`, `domain` and `ndots` of resolv.conf(5). c-ares reads the name servers itself but applies no search list. */
export function parseSearchList(text: string, machine: string = machineName()): SearchList {
  let domains = machine.includes('.') ? [machine.slice(machine.indexOf('.') + 1)] : [];
  let { ndots } = noSearchList;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search') domains = values;
    if (keyword === 'domain') domains = values.slice(0, 1);
    if (keyword !== 'options') continue;
    for (const option of values) {
      const [, given] = /^ndots:(\d+)$/.exec(option) ?? [];
      if (given !== undefined) ndots = Math.min(Number(given), maxNdots);
    }
  }
  return { domains: domains.slice(0, maxDomains), ndots };
}

/** The names to query, in glibc's order: the name itself comes first if it has at least `ndots` dots, otherwise last. */
export function candidatesFor(name: string, { domains, ndots }: SearchList): string[] {
  if (name.endsWith('.')) return [name];
  const dots = name.split('.').length - 1;
  const searched = domains.map((domain) => `${name}.${domain}`.replace(/\.+$/, ''));
  const all = dots >= ndots ? [name, ...searched] : [...searched, name];
  return [...new Set(all)];
}

/** Parses a hosts file (hosts(5)) into addresses by name. */
export function parseHosts(text: string): Map<string, string[]> {
  const addresses = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!isIP(address)) continue;
    for (const name of names) {
      const key = name.toLowerCase().replace(/\.$/, '');
      const known = addresses.get(key);
      if (!known) addresses.set(key, [address]);
      else if (!known.includes(address)) known.push(address);
    }
  }
  return addresses;
}

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
