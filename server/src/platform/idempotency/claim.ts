import { hash } from 'node:crypto';

/** After this time a key can be used again. */
export const retentionMs = 24 * 60 * 60 * 1000;

/** A request's claim on its `Idempotency-Key`. */
export type Claim = {
  /** Unique per (account, key); the key of `KeysInFlight`. */
  id: string;
  key: string;
  /** Identifies the same request. Hexadecimal, because hashing to a buffer takes more than twice as long. */
  fingerprint: string;
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
  return {
    id: `${accountId}\n${key}`,
    key,
    fingerprint: hash('sha256', `${method} ${path}?${query}\n${canonicalBody}`, 'hex'),
    createdAt: new Date(nowMs),
    expiresAt: new Date(nowMs + retentionMs),
  };
}
