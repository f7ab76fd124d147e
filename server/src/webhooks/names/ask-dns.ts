import { Resolver } from 'node:dns/promises';
import { candidatesFor, type SearchList } from './search-list.ts';

export type DnsAnswer =
  | { kind: 'found'; addresses: string[]; ttlSeconds: number }
  /** There is no such name, or it has no address. */
  | { kind: 'absent' }
  /** The name's own servers failed; `code` is c-ares'. */
  | { kind: 'failed'; code: string }
  /** The name's own servers did not answer in time. */
  | { kind: 'silent' }
  /** It could not be asked at all: our fault, or that of our DNS servers. */
  | { kind: 'ours'; code: string };

type Options = {
  searchList(): SearchList;
  /** Instead of those in resolv.conf: `address` or `address:port`. */
  servers?: readonly string[] | undefined;
  /** For everything that a name takes, the search list included. */
  limitMs: number;
};

export type AskDns = (name: string) => Promise<DnsAnswer>;

// A lost packet costs a second; the limit of the whole question cuts the later, longer waits short.
const resolverOptions = { timeout: 1_000, tries: 4 };
const probeLimitMs = 2_000;
// A receiver has a handful. The answer is kept in memory, and its author may be hostile.
const mostAddresses = 64;

/**
 * Asks DNS for the addresses of a name. Through c-ares, which waits on sockets: `dns.lookup` holds one of libuv's four
 * threads for each name whose servers hang, and everything else that needs a thread waits behind it.
 */
export function createAskDns({ searchList, servers, limitMs }: Options): AskDns {
  let heardAtMs = Number.NEGATIVE_INFINITY;
  let probing: Promise<boolean> | null = null;

  /** One resolver per question: it can be canceled alone, has ports of its own, and reads resolv.conf as it is now. */
  async function within<T>(ms: number, ask: (resolver: Resolver) => Promise<T>): Promise<T> {
    const resolver = new Resolver(resolverOptions);
    if (servers) resolver.setServers(servers);
    const timer = setTimeout(() => resolver.cancel(), ms);
    try {
      return await ask(resolver);
    } finally {
      clearTimeout(timer);
    }
  }

  async function question(records: Promise<{ address: string; ttl: number }[]>): Promise<Records> {
    try {
      const found = await records;
      heardAtMs = performance.now();
      return { found, code: null };
    } catch (error) {
      const { code = 'unknown' } = error as NodeJS.ErrnoException;
      if (!unheard.has(code)) heardAtMs = performance.now();
      return { found: [], code };
    }
  }

  async function askAll(name: string, resolver: Resolver): Promise<DnsAnswer> {
    const endsAtMs = performance.now() + limitMs;
    let answer: DnsAnswer = { kind: 'absent' };
    for (const candidate of candidatesFor(name, searchList())) {
      if (performance.now() >= endsAtMs) return { kind: 'silent' };
      const both = await Promise.all([
        question(resolver.resolve4(candidate, { ttl: true })),
        question(resolver.resolve6(candidate, { ttl: true })),
      ]);
      const next = judge(both);
      if (next.kind === 'found' || next.kind === 'silent' || next.kind === 'ours') return next;
      // As glibc: a server's failure for one candidate does not end the search, and is told only if none is found.
      if (answer.kind === 'absent') answer = next;
    }
    return answer;
  }

  /** Whether our DNS servers answer anything at all. Any answer will do, a refusal too. */
  function probe(): Promise<boolean> {
    probing ??= within(probeLimitMs, (resolver) =>
      resolver.resolveNs('.').then(
        () => true,
        (error: NodeJS.ErrnoException) => !unheard.has(error.code ?? ''),
      ),
    ).finally(() => {
      probing = null;
    });
    return probing;
  }

  return async (name) => {
    const askedAtMs = performance.now();
    const answer = await within(limitMs, (resolver) => askAll(name, resolver));
    if (answer.kind !== 'silent' || heardAtMs >= askedAtMs || (await probe())) return answer;
    return { kind: 'ours', code: 'ETIMEOUT' };
  };
}

type Records = { found: { address: string; ttl: number }[]; code: string | null };

/** Codes that mean that no DNS server said anything; c-ares refuses a malformed name (EBADNAME) by itself. */
const unheard = new Set([
  ...['ETIMEOUT', 'ECANCELLED', 'EBADNAME'],
  ...['ECONNREFUSED', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'],
]);
const absent = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
const silent = new Set(['ETIMEOUT', 'ECANCELLED']);

/** One family is enough. IPv4 comes first: a machine without IPv6 then needs no time to find that out. */
function judge([v4, v6]: [Records, Records]): DnsAnswer {
  const found = [...v4.found, ...v6.found];
  if (found.length > mostAddresses) return { kind: 'failed', code: 'too many addresses' };
  if (found.length > 0) {
    return {
      kind: 'found',
      addresses: found.map(({ address }) => address),
      ttlSeconds: Math.min(...found.map(({ ttl }) => ttl)),
    };
  }
  const codes = [v4.code, v6.code].flatMap((code) => (code === null || absent.has(code) ? [] : [code]));
  const [code] = codes;
  if (code === undefined) return { kind: 'absent' };
  const ours = codes.find((one) => unheard.has(one) && !silent.has(one));
  if (ours !== undefined) return { kind: 'ours', code: ours };
  return codes.some((one) => silent.has(one)) ? { kind: 'silent' } : { kind: 'failed', code };
}
