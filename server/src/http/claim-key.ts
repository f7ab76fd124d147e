import { isDryRun, type WriteOperation } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/app-error.ts';
import { type Claim, createClaim } from '../platform/idempotency/claim.ts';
import type { JsonBody } from './json-body.ts';

/** What a write claims with its idempotency key, if it has one. */
export function claimKey(
  { method, url, account, headers }: FastifyRequest,
  body: JsonBody,
  definition: WriteOperation,
  nowMs: number,
): Claim | null {
  const key = headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key !== 'string' || !/^[ -~]{1,255}$/.test(key)) {
    throw new AppError(
      'idempotency_key_invalid',
      'Idempotency-Key must have 1 to 255 printable ASCII characters.',
      { param: 'Idempotency-Key' },
    );
  }
  // What changes nothing can be repeated, and the order itself may then come under the same key.
  if (isDryRun(definition, body.value)) return null;
  const pathLength = url.includes('?') ? url.indexOf('?') : url.length;
  const [path, query] = [url.slice(0, pathLength), url.slice(pathLength + 1)];
  const accountId = account?.id ?? '';
  return createClaim({ accountId, key, method, path, query, canonicalBody: body.canonical }, nowMs);
}
