import { hasScope } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import { hexHashOf } from '../../accounts/api-key-text.ts';
import type { KnownKey } from '../../accounts/key-directory.ts';
import type { Service } from '../../service.ts';
import { keyIn } from '../authenticate.ts';
import type { Stream } from './open-stream.ts';

// With the age of a cached key, a revoked key's streams end within 5 s.
const checkMs = 2_000;

/** Ends the streams of keys that were revoked, expired or lost their scope. All keys are looked up together. */
export function createOpenKeys({ keys, clock }: Pick<Service, 'keys' | 'clock'>) {
  const streamsOf = new Map<string, Set<Stream>>();

  function mayRead(key: KnownKey | null): boolean {
    if (!key || key.revoked || !hasScope(key.apiKey.scopes, 'read')) return false;
    return key.expiresAtMs === null || key.expiresAtMs > clock.nowMs();
  }

  async function check(hash: string, streams: Set<Stream>): Promise<void> {
    const known = keys.recall(hash);
    const key = known === undefined ? await keys.lookUp(hash) : await known;
    if (!mayRead(key)) for (const stream of [...streams]) stream.end();
  }

  const timer = setInterval(() => {
    for (const [hash, streams] of streamsOf) {
      check(hash, streams).catch(() => {}); // the database is away; checked again soon
    }
  }, checkMs).unref();

  return {
    /** Returns a function to call when the stream has ended. */
    add({ headers }: FastifyRequest, stream: Stream): () => void {
      const hash = hexHashOf(keyIn(headers.authorization) ?? '');
      const streams = streamsOf.get(hash) ?? new Set();
      streamsOf.set(hash, streams.add(stream));
      return () => {
        streams.delete(stream);
        if (streams.size === 0) streamsOf.delete(hash);
      };
    },
    stop: () => clearInterval(timer),
  };
}
