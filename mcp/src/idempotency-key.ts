import type { CallOptions } from '@simplane/sdk';
import { InvalidArgument } from './invalid-argument.ts';

export type WithKey<Body> = Body & { idempotency_key?: string };

export const idempotencyKey = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[ -~]+$',
  description:
    'Makes a repetition safe: the same key with the same arguments within 24 hours returns the first answer and does ' +
    'the work once. Left out, every call is new work.',
};

/** The body as the API takes it, and the key, which stands in a header. The SDK makes a random one where there is none. */
export function splitKey<Body>({ idempotency_key, ...body }: WithKey<Body>): {
  body: Body;
  options: Pick<CallOptions, 'idempotencyKey'>;
} {
  if (idempotency_key === undefined) return { body: body as Body, options: {} };
  // A header cannot carry the rest, so the API would never see it to refuse it.
  if (typeof idempotency_key !== 'string' || !/^[ -~]{1,255}$/.test(idempotency_key)) {
    throw new InvalidArgument(
      'idempotency_key',
      'idempotency_key takes 1 to 255 printable ASCII characters.',
    );
  }
  return { body: body as Body, options: { idempotencyKey: idempotency_key } };
}
