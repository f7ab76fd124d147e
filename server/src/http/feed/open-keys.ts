import { hasScope } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import { hexHashOf } from '../../accounts/api-key-text.ts';
import type { KnownKey } from '../../accounts/key-directory.ts';
import { findLiveSessions } from '../../accounts/sessions/find-key.ts';
import type { Service } from '../../background/service.ts';
import { keyIn, mayBeUsedFrom } from '../authenticate.ts';

// With the age of a cached key, a revoked key's readers end within 5 s.
const checkMs = 2_000;

/** An open stream or a waiting request. */
type Reader = { end(): void };
type OpenReader = { address: string; session: Buffer | null; reader: Reader };

/**
 * Ends the streams and waiting requests of keys that were revoked, expired, lost their scope, or may no longer be used from where
 * they are, and those of dashboard sessions that were signed out or have expired.
 */
export function createOpenKeys({ db, keys, clock }: Pick<Service, 'db' | 'keys' | 'clock'>) {
  const readersOf = new Map<string, Set<OpenReader>>();

  function mayRead(key: KnownKey | null): boolean {
    if (!key || key.revoked) return false;
    // An operator's key may read every account.
    if (key.account && !hasScope(key.apiKey.scopes, 'read')) return false;
    return key.expiresAtMs === null || key.expiresAtMs > clock.nowMs();
  }

  async function check(hash: string, readers: Set<OpenReader>): Promise<void> {
    const known = keys.recall(hash);
    const key = known === undefined ? await keys.lookUp(hash) : await known;
    const isReadable = mayRead(key);
    for (const { address, reader } of [...readers]) {
      if (!isReadable || !key || !mayBeUsedFrom(key, address)) reader.end();
    }
  }

  async function checkSessions(): Promise<void> {
    const all = [...readersOf.values()].flatMap((readers) => [...readers]);
    const inSessions = all.flatMap(({ session, reader }) => (session ? [{ session, reader }] : []));
    if (inSessions.length === 0) return;
    const isLive = await findLiveSessions(
      db,
      clock,
      inSessions.map(({ session }) => session),
    );
    for (const { session, reader } of inSessions) if (!isLive(session)) reader.end();
  }

  const timer = setInterval(() => {
    const ignore = () => {}; // the database is away; checked again soon
    for (const [hash, readers] of readersOf) check(hash, readers).catch(ignore);
    checkSessions().catch(ignore);
  }, checkMs).unref();

  return {
    /** Returns a function to call when it has ended. */
    add({ headers, session, ip: address }: FastifyRequest, reader: Reader): () => void {
      const hash = session?.keyHash ?? hexHashOf(keyIn(headers.authorization) ?? '');
      const readers = readersOf.get(hash) ?? new Set();
      const open = { address, session: session?.hash ?? null, reader };
      readersOf.set(hash, readers.add(open));
      return () => {
        readers.delete(open);
        if (readers.size === 0) readersOf.delete(hash);
      };
    },
    stop: () => clearInterval(timer),
  };
}
