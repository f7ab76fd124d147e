import { hash } from 'node:crypto';

/** After this a key is free again. */
const retentionMs = 24 * 60 * 60 * 1000;

/** A request's hold on its `Idempotency-Key`: what makes it "the same request", and until when that is remembered. */
export type Claim = {
  /** Unique to (account, key) in the process: what the registry of keys in flight is keyed by. */
  id: string;
  key: string;
  /** In hexadecimal: a hash that is asked for as a buffer costs more than twice as much. */
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
