import { Resolver } from 'node:dns/promises';
import { candidatesFor, type SearchList } from './resolver-files.ts';

export type DnsAnswer =
  | { kind: 'found'; addresses: string[]; ttlSeconds: number }
  /** The name does not exist or has no address. */
  | { kind: 'not_found' }
  /** The name's own servers failed; `code` comes from c-ares. */
  | { kind: 'failed'; code: string }
  /** The name's own servers did not answer in time. */
  | { kind: 'timeout' }
  /** The query failed on our side: in this process or at our DNS servers. */
  | { kind: 'unreachable'; code: string };

type Options = {
  searchList(): SearchList;
  /** Replaces the servers in resolv.conf: `address` or `address:port`. */
  servers?: readonly string[] | undefined;
  /** For the whole look-up, including the search list. */
  timeoutMs: number;
};

export type AskDns = (name: string) => Promise<DnsAnswer>;

// A lost packet costs a second; `timeoutMs` cuts short the longer waits of later tries.
const resolverOptions = { timeout: 1_000, tries: 4 };
const probeTimeoutMs = 2_000;
// A receiver has a handful. Answers are cached in memory and may come from an attacker.
const maxAddresses = 64;

/**
 * Queries DNS for the addresses of a name. Uses c-ares, which waits on sockets. `dns.lookup` would block one of libuv's four
 * threads for each name whose servers hang, and with it everything else that needs a thread.
 */
export function createAskDns({ searchList, servers, timeoutMs }: Options): AskDns {
  let lastReplyAtMs = Number.NEGATIVE_INFINITY;
  let probing: Promise<boolean> | null = null;

  /** A new resolver per look-up: it can be canceled alone, has its own ports and reads the current resolv.conf. */
  async function withResolver<T>(ms: number, ask: (resolver: Resolver) => Promise<T>): Promise<T> {
    const resolver = new Resolver(resolverOptions);
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), ms);
    try {
      return await ask(resolver);
    } finally {
      clearTimeout(timer);
    }
  }

  async function collect(records: Promise<{ address: string; ttl: number }[]>): Promise<Records> {
    try {
      const found = await records;
      lastReplyAtMs = performance.now();
      return { found, code: null };
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (!noReply.has(code)) lastReplyAtMs = performance.now();
      return { found: [], code };
    }
  }

  async function search(name: string, resolver: Resolver): Promise<DnsAnswer> {
    const endsAtMs = performance.now() + timeoutMs;
    let answer: DnsAnswer = { kind: 'not_found' };
    for (const candidate of candidatesFor(name, searchList())) {
      if (performance.now() >= endsAtMs) return { kind: 'timeout' };
      const both = await Promise.all([
        collect(resolver.resolve4(candidate, { ttl: true })),
        collect(resolver.resolve6(candidate, { ttl: true })),
      ]);
      const next = combine(both);
      if (next.kind === 'found' || next.kind === 'timeout' || next.kind === 'unreachable') return next;
      // Like glibc: a server failure for one candidate does not end the search; it is reported only if no candidate is found.
      if (answer.kind === 'not_found') answer = next;
    }
    return answer;
  }

  /** Whether our DNS servers reply at all; even a refusal counts. */
  function probe(): Promise<boolean> {
    probing ??= withResolver(probeTimeoutMs, (resolver) =>
      resolver.resolveNs('.').then(
        () => true,
        (error: NodeJS.ErrnoException) => !noReply.has(error.code ?? ''),
      ),
    ).finally(() => {
      probing = null;
    });
    return probing;
  }

  return async (name) => {
    const askedAtMs = performance.now();
    const answer = await withResolver(timeoutMs, (resolver) => search(name, resolver));
    if (answer.kind !== 'timeout' || lastReplyAtMs >= askedAtMs || (await probe())) return answer;
    return { kind: 'unreachable', code: 'ETIMEOUT' };
  };
}

type Records = { found: { address: string; ttl: number }[]; code: string | null };

/** Codes without a reply from a DNS server; c-ares itself rejects a malformed name (EBADNAME). */
const noReply = new Set([
  ...['ETIMEOUT', 'ECANCELLED', 'EBADNAME'],
  ...['ECONNREFUSED', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'],
]);
const notFound = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
const timedOut = new Set(['ETIMEOUT', 'ECANCELLED']);

/** One family is enough. IPv4 comes first, so a machine without IPv6 loses no time trying it. */
function combine([v4, v6]: [Records, Records]): DnsAnswer {
  const found = [...v4.found, ...v6.found];
  if (found.length > maxAddresses) return { kind: 'failed', code: 'too many addresses' };
  if (found.length > 0) {
    return {
      kind: 'found',
      addresses: found.map(({ address }) => address),
      ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
    };
  }
  const codes = [v4.code, v6.code].flatMap((code) => (code === null || notFound.has(code) ? [] : [code]));
  const [code] = codes;
  if (code === undefined) return { kind: 'not_found' };
  const ownFault = codes.find((one) => noReply.has(one) && !timedOut.has(one));
  if (ownFault !== undefined) return { kind: 'unreachable', code: ownFault };
  return codes.some((one) => timedOut.has(one)) ? { kind: 'timeout' } : { kind: 'failed', code };
}
