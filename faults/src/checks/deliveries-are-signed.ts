import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { type EndpointTimeline, endpointTimelinesOf } from '../history/endpoint-timelines.ts';
import type { History, Receipt } from '../history/history.ts';
import type { Violation } from './violation.ts';

const toleranceSeconds = 300;

/** Every delivery verifies with a secret of its endpoint, in both header formats, and never with a revoked one. */
export function deliveriesAreSigned(history: History): Violation[] {
  const timelines = new Map(endpointTimelinesOf(history).map((timeline) => [timeline.hook, timeline]));
  return history.receipts.flatMap((receipt) => {
    const timeline = timelines.get(receipt.hook);
    const about = [receipt.headers['webhook-id'] ?? '', timeline?.id ?? receipt.hook];
    if (!timeline) return [{ about, what: 'a delivery went to an endpoint that does not exist' }];
    const verifying = timeline.secrets.filter(({ secret }) => verifies(receipt, secret));
    if (verifying.length === 0)
      return [{ about, what: 'a delivery verifies with no secret of its endpoint' }];
    if (!receipt.body.includes('"type":"test.last"')) return [];
    return checkLast(timeline, verifying).map((what) => ({ about, what }));
  });
}

/** Nothing changes after the last event is sent, so the secrets that must sign it are known. */
function checkLast({ secrets }: EndpointTimeline, verifying: EndpointTimeline['secrets']): string[] {
  const newest = secrets.find((one) => secrets.every((other) => other === one || other.toMs < one.fromMs));
  if (newest && !verifying.includes(newest)) return ['a delivery is not signed with the newest secret'];
  const isRevoked = (old: EndpointTimeline['secrets'][number]) =>
    secrets.some((later) => later.revokesOlder && old.toMs < later.fromMs);
  return verifying.some(isRevoked) ? ['a delivery is signed with a revoked secret'] : [];
}

/** Verifies with the libraries that receivers use, not with our own code. */
function verifies({ body, headers, atMs }: Receipt, secret: string): boolean {
  try {
    const receivedAt = Math.floor(atMs / 1000);
    const { signature } = Stripe.webhooks;
    signature?.verifyHeader(
      body,
      headers['service-signature'] ?? '',
      secret,
      toleranceSeconds,
      undefined,
      receivedAt,
    );
    // Not verify(): it compares the age to the current time, and a long run exceeds its tolerance.
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
    const expected = new Webhook(secret).sign(headers['webhook-id'] ?? '', sentAt, body);
    return (headers['webhook-signature'] ?? '').split(' ').includes(expected);
  } catch {
    return false;
  }
}
