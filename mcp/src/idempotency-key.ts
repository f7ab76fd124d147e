import type { CallOptions } from '@simplane/sdk';
import { InvalidArgument } from './invalid-argument.ts';

export type WithKey<Body> = Body & { idempotency_key?: string };

export const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[ -~]+$',
  description:
    'Makes a retry safe: within 24 hours, the same key with the same arguments returns the first response and the work ' +
    'runs once. If omitted, every call is a new request.',
};

/** Separates the request body from the key, which is sent as a header. Without one, the SDK generates a random key. */
export function splitKey<Body>({ idempotency_key, ...body }: WithKey<Body>): {
  body: Body;
  options: Pick<CallOptions, 'idempotencyKey'>;
} {
  if (idempotency_key === undefined) return { body: body as Body, options: {} };
  // Other characters cannot be sent in a header, so the API cannot reject them itself.
  if (typeof idempotency_key !== 'string' || !/^[ -~]{1,255}$/.test(idempotency_key)) {
    throw new InvalidArgument(
      'idempotency_key',
      'idempotency_key must be 1 to 255 printable ASCII characters.',
    );
  }
  return { body: body as Body, options: { idempotencyKey: idempotency_key } };
}
