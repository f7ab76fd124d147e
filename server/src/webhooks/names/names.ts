import { isIP } from 'node:net';
import { isLocalhostName } from '../guard/localhost.ts';
import { type AskDns, createAskDns, type DnsAnswer } from './ask-dns.ts';
import { parseHosts } from './hosts-file.ts';
import { createLookupSlots } from './lookup-slots.ts';
import { noSearchList, parseSearchList } from './search-list.ts';
import { watchedFile } from './watched-file.ts';

export type Resolved =
  | { kind: 'found'; addresses: readonly string[] }
  /** The endpoint's failure, in words for its owner. */
  | { kind: 'failed'; error: string }
  /** It could not be asked, which says nothing about the name. `isFault`: the operator must fix something. */
  | { kind: 'unasked'; why: string; isFault: boolean };

export type Names = {
  /** What to connect to for a URL's host. At once where it is known: a promise per delivery would cost more. */
  resolve(accountUuid: string, hostname: string): Resolved | Promise<Resolved>;
};

type Options = {
  servers?: readonly string[] | null;
  hostsPath?: string;
  resolvConfPath?: string;
  /** In place of DNS itself, for tests. */
  ask?: AskDns;
  limitMs?: number;
  mostEntries?: number;
  monotonicMs?: () => number;
};

type Entry = {
  resolved: Resolved;
  untilMs: number;
  /** The last addresses that were found, and until when they may stand in for an answer that does not come. */
  lastFound: { addresses: readonly string[]; untilMs: number } | null;
  /** Whether its servers let the last question time out. */
  isSuspect: boolean;
};

const shortestTtlMs = 1_000;
const longestTtlMs = 300_000;
// Long enough that a backlog's retries do not each ask again, short enough that a mended name is soon noticed.
const failureTtlMs = 5_000;
// RFC 8767: an old answer beats none. A receiver that works must not fail because a refresh did.
const staleMs = 600_000;
const slotOptions = { perAccount: 16, mostWaiting: 64, longestWaitMs: 1_000 };

/** Resolves the names in tenants' URLs: /etc/hosts first, then DNS, remembered for their TTL and bounded per account. */
export function createNames(options: Options = {}): Names {
  const { servers, limitMs = 5_000, mostEntries = 4_096, monotonicMs = () => performance.now() } = options;
  const hosts = watchedFile({ path: options.hostsPath ?? '/etc/hosts', parse: parseHosts });
  const searchList = watchedFile({
    path: options.resolvConfPath ?? '/etc/resolv.conf',
    parse: (text) => parseSearchList(text),
  });
  const ask =
    options.ask ??
    createAskDns(
      // Servers of one's own are for public names: the search list belongs to the machine's resolver.
      servers ? { servers, limitMs, searchList: () => noSearchList } : { limitMs, searchList },
    );
  const slots = createLookupSlots(slotOptions);
  const entries = new Map<string, Entry>();
  const asking = new Map<string, Promise<Resolved>>();

  function freshEntry(hostname: string): Resolved | null {
    const entry = entries.get(hostname);
    return entry && monotonicMs() < entry.untilMs ? entry.resolved : null;
  }

  function staleEntry(hostname: string): Resolved | null {
    const last = entries.get(hostname)?.lastFound;
    return last && monotonicMs() < last.untilMs ? { kind: 'found', addresses: last.addresses } : null;
  }

  async function askFor(hostname: string): Promise<Resolved> {
    const answer = await ask(hostname).catch((error: NodeJS.ErrnoException): DnsAnswer => {
      return { kind: 'ours', code: error.code ?? error.name };
    });
    const stale = answer.kind === 'absent' ? null : staleEntry(hostname);
    const resolved = toResolved(answer, stale);
    // Nothing was learned of the name, so nothing is remembered.
    if (resolved.kind === 'unasked') return resolved;
    const nowMs = monotonicMs();
    const isFound = answer.kind === 'found';
    const ttlMs = isFound ? clamp(answer.ttlSeconds * 1_000) : failureTtlMs;
    const kept = stale ? (entries.get(hostname)?.lastFound ?? null) : null;
    entries.delete(hostname); // the latest stands last, so that the oldest is dropped first
    entries.set(hostname, {
      resolved,
      untilMs: nowMs + ttlMs,
      lastFound: isFound ? { addresses: answer.addresses, untilMs: nowMs + staleMs } : kept,
      isSuspect: answer.kind === 'silent',
    });
    if (entries.size > mostEntries) entries.delete(entries.keys().next().value as string);
    return resolved;
  }

  async function lookUp(accountUuid: string, hostname: string): Promise<Resolved> {
    const slot = await slots.take(accountUuid, entries.get(hostname)?.isSuspect ?? false);
    if (!slot) return staleEntry(hostname) ?? { kind: 'unasked', why: busy, isFault: false };
    try {
      return freshEntry(hostname) ?? (await asked(hostname));
    } finally {
      slot();
    }
  }

  /** One question per name at a time, whoever asks. Only what is under way is shared, never a wait for a slot. */
  function asked(hostname: string): Promise<Resolved> {
    const open = asking.get(hostname);
    if (open) return open;
    const question = askFor(hostname).finally(() => asking.delete(hostname));
    asking.set(hostname, question);
    return question;
  }

  return {
    resolve(accountUuid, hostname) {
      if (isIP(hostname)) return { kind: 'found', addresses: [hostname] };
      if (isLocalhostName(hostname)) return loopback;
      const listed = hosts().get(hostname.replace(/\.$/, ''));
      if (listed) return { kind: 'found', addresses: listed };
      return freshEntry(hostname) ?? asking.get(hostname) ?? lookUp(accountUuid, hostname);
    },
  };
}

const busy = 'too many of the account’s host names are being looked up';
const loopback: Resolved = { kind: 'found', addresses: ['127.0.0.1', '::1'] };

function toResolved(answer: DnsAnswer, stale: Resolved | null): Resolved {
  switch (answer.kind) {
    case 'found':
      return { kind: 'found', addresses: answer.addresses };
    case 'absent':
      return { kind: 'failed', error: 'host name not found' };
    case 'failed':
      return stale ?? { kind: 'failed', error: `host name look-up failed (${answer.code})` };
    case 'silent':
      return stale ?? { kind: 'failed', error: 'host name look-up timed out' };
    case 'ours':
      return stale ?? { kind: 'unasked', why: `no DNS server answers (${answer.code})`, isFault: true };
  }
}

function clamp(ttlMs: number): number {
  return Math.min(longestTtlMs, Math.max(shortestTtlMs, ttlMs));
}
