import { isIP } from 'node:net';
import { isLocalhostName } from '../guard/check-url.ts';
import { type AskDns, createAskDns, type DnsAnswer } from './ask-dns.ts';
import { createLookupSlots } from './lookup-slots.ts';
import { noSearchList, parseHosts, parseSearchList, watchedFile } from './resolver-files.ts';

export type Resolved =
  | { kind: 'found'; addresses: readonly string[] }
  /** The endpoint is at fault; `error` is worded for its owner. */
  | { kind: 'failed'; error: string }
  /** The look-up could not run, and the name is not to blame. `isFault`: the operator must fix something. */
  | { kind: 'unknown'; reason: string; isFault: boolean };

export type Names = {
  /** Resolves a URL's host. Synchronous for a cached name, to save a promise per delivery. */
  resolve(accountUuid: string, hostname: string): Resolved | Promise<Resolved>;
};

type Options = {
  servers?: readonly string[] | null;
  hostsPath?: string;
  /** Replaces DNS in tests. */
  ask?: AskDns;
  timeoutMs?: number;
  maxEntries?: number;
  monotonicMs?: () => number;
};

type Entry = {
  resolved: Resolved;
  untilMs: number;
  /** The last addresses found, used until `untilMs` if a refresh fails. */
  lastFound: { addresses: readonly string[]; untilMs: number } | null;
  /** Whether the last look-up timed out. */
  isSuspect: boolean;
};

const minTtlMs = 1_000;
const maxTtlMs = 300_000;
// Long enough that a backlog's retries share one look-up, short enough to notice a repaired name soon.
const failureTtlMs = 5_000;
// RFC 8767: a stale answer beats none. A working receiver must not fail because a refresh failed.
const staleMs = 600_000;
const slotOptions = { perAccount: 16, maxWaiting: 64, maxWaitMs: 1_000 };

/** Resolves host names in tenants' URLs: /etc/hosts first, then DNS. Caches by TTL and limits look-ups per account. */
export function createNames(options: Options = {}): Names {
  const { servers, timeoutMs = 5_000, maxEntries = 4_096, monotonicMs = () => performance.now() } = options;
  const hosts = watchedFile({ path: options.hostsPath ?? '/etc/hosts', parse: parseHosts });
  const searchList = watchedFile({ path: '/etc/resolv.conf', parse: (text) => parseSearchList(text) });
  const ask =
    options.ask ??
    createAskDns(
      // Configured servers resolve public names; the search list applies only to the machine's own resolver.
      servers ? { servers, timeoutMs, searchList: () => noSearchList } : { timeoutMs, searchList },
    );
  const slots = createLookupSlots(slotOptions);
  const entries = new Map<string, Entry>();
  const inFlight = new Map<string, Promise<Resolved>>();
  const lookUps = new Map<string, Promise<Resolved>>();

  function freshEntry(hostname: string): Resolved | null {
    const entry = entries.get(hostname);
    return entry && monotonicMs() < entry.untilMs ? entry.resolved : null;
  }

  function staleEntry(hostname: string): Resolved | null {
    const last = entries.get(hostname)?.lastFound;
    return last && monotonicMs() < last.untilMs ? { kind: 'found', addresses: last.addresses } : null;
  }

  async function query(hostname: string): Promise<Resolved> {
    const answer = await ask(hostname).catch((error: NodeJS.ErrnoException): DnsAnswer => {
      return { kind: 'unreachable', code: error.code ?? error.name };
    });
    const stale = answer.kind === 'not_found' ? null : staleEntry(hostname);
    const resolved = toResolved(answer, stale);
    // Nothing was learned about the name, so nothing is cached.
    if (resolved.kind === 'unknown') return resolved;
    const nowMs = monotonicMs();
    const isFound = answer.kind === 'found';
    const ttlMs = isFound ? clamp(answer.ttlSeconds * 1_000) : failureTtlMs;
    const previous = stale ? (entries.get(hostname)?.lastFound ?? null) : null;
    entries.delete(hostname); // re-insert at the end: the oldest entry is dropped first
    entries.set(hostname, {
      resolved,
      untilMs: nowMs + ttlMs,
      lastFound: isFound ? { addresses: answer.addresses, untilMs: nowMs + staleMs } : previous,
      isSuspect: answer.kind === 'timeout',
    });
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string);
    return resolved;
  }

  async function lookUp(accountUuid: string, hostname: string): Promise<Resolved> {
    const release = await slots.acquire(accountUuid, entries.get(hostname)?.isSuspect ?? false);
    if (!release) return staleEntry(hostname) ?? { kind: 'unknown', reason: busy, isFault: false };
    try {
      return freshEntry(hostname) ?? (await queryOnce(hostname));
    } finally {
      release();
    }
  }

  /** Deliveries that an account sends to one name at the same moment take one slot, not one each. */
  function lookUpOnce(accountUuid: string, hostname: string): Promise<Resolved> {
    const key = `${accountUuid} ${hostname}`;
    const running = lookUps.get(key);
    if (running) return running;
    const result = lookUp(accountUuid, hostname).finally(() => lookUps.delete(key));
    lookUps.set(key, result);
    return result;
  }

  /** Runs one query per name at a time. Accounts share a running query, but never a wait for a slot. */
  function queryOnce(hostname: string): Promise<Resolved> {
    const running = inFlight.get(hostname);
    if (running) return running;
    const result = query(hostname).finally(() => inFlight.delete(hostname));
    inFlight.set(hostname, result);
    return result;
  }

  return {
    resolve(accountUuid, hostname) {
      if (isIP(hostname)) return { kind: 'found', addresses: [hostname] };
      if (isLocalhostName(hostname)) return loopback;
      const listed = hosts().get(hostname.replace(/\.$/, ''));
      if (listed) return { kind: 'found', addresses: listed };
      return freshEntry(hostname) ?? inFlight.get(hostname) ?? lookUpOnce(accountUuid, hostname);
    },
  };
}

const busy = 'the account has too many host name look-ups running';
const loopback: Resolved = { kind: 'found', addresses: ['127.0.0.1', '::1'] };

function toResolved(answer: DnsAnswer, stale: Resolved | null): Resolved {
  switch (answer.kind) {
    case 'found':
      return { kind: 'found', addresses: answer.addresses };
    case 'not_found':
      return { kind: 'failed', error: 'host name not found' };
    case 'failed':
      return stale ?? { kind: 'failed', error: `host name look-up failed: ${describeCode(answer.code)}` };
    case 'timeout':
      return stale ?? { kind: 'failed', error: 'host name look-up timed out' };
    case 'unreachable':
      return stale ?? { kind: 'unknown', reason: `no DNS server answers (${answer.code})`, isFault: true };
  }
}

function describeCode(code: string): string {
  switch (code) {
    case 'ESERVFAIL':
      return 'its DNS server reports a failure';
    case 'EREFUSED':
      return 'its DNS server refuses to answer';
    case 'too many addresses':
      return code;
    default:
      return 'its DNS server gave no usable answer';
  }
}

function clamp(ttlMs: number): number {
  return Math.min(maxTtlMs, Math.max(minTtlMs, ttlMs));
}
