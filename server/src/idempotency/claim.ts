import { hash } from 'node:crypto';

/** After this a key is free again. */
const retentionMs = 24 * 60 * 60 * 1000;

/** A request's hold on its `Idempotency-Key`: what makes it "the same request", and until when that is remembered. */
export type Claim = {
  /** Unique to (account, key) in the process: what the registry of keys in flight is keyed by. */
  id: string;
  key: string;
  fingerprint: Buffer;
  /** For `pg_try_advisory_xact_lock`: 64 bits of a hash of (account, key). */
  lockId: bigint;
  createdAt: Date;
  expiresAt: Date;
};

type Request = {
  accountId: string;
  key: string;
  method: string;
  path: string;
  query: string;
  canonicalBody: string;
};

export function createClaim(request: Request, nowMs: number): Claim {
  const { accountId, key, method, path, query, canonicalBody } = request;
  const id = `${accountId}\n${key}`;
  return {
    id,
    key,
    fingerprint: hash('sha256', `${method} ${path}?${query}\n${canonicalBody}`, 'buffer'),
    lockId: hash('sha256', id, 'buffer').readBigInt64BE(),
    createdAt: new Date(nowMs),
    expiresAt: new Date(nowMs + retentionMs),
  };
}
