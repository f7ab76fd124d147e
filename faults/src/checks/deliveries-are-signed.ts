import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { type EndpointLife, endpointLivesOf } from '../history/endpoint-lives.ts';
import type { History, Receipt } from '../history/history.ts';
import type { Violation } from './violation.ts';

const toleranceSeconds = 300;

/** Every delivery verifies with a secret of its endpoint, in both families of headers; with a void one it does not. */
export function deliveriesAreSigned(history: History): Violation[] {
  const lives = new Map(endpointLivesOf(history).map((life) => [life.hook, life]));
  return history.receipts.flatMap((receipt) => {
    const life = lives.get(receipt.hook);
    const about = [receipt.headers['webhook-id'] ?? '', life?.id ?? receipt.hook];
    if (!life) return [{ about, what: 'a delivery went to an endpoint that nobody has created' }];
    const verifying = life.secrets.filter(({ secret }) => verifies(receipt, secret));
    if (verifying.length === 0)
      return [{ about, what: 'a delivery verifies with no secret of its endpoint' }];
    if (!receipt.body.includes('"type":"test.last"')) return [];
    return judgeLast(life, verifying).map((what) => ({ about, what }));
  });
}

/** When the last event is sent nothing changes any more: what has to sign then is certain. */
function judgeLast({ secrets }: EndpointLife, verifying: EndpointLife['secrets']): string[] {
  const newest = secrets.find((one) => secrets.every((other) => other === one || other.toMs < one.fromMs));
  if (newest && !verifying.includes(newest)) return ['a delivery is not signed with the newest secret'];
  const isVoid = (old: EndpointLife['secrets'][number]) =>
    secrets.some((later) => later.voids && old.toMs < later.fromMs);
  return verifying.some(isVoid) ? ['a delivery is signed with a secret that is void'] : [];
}

/** Not by code of ours: by the libraries that receivers use. */
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
    // Its verify() judges the age by the clock of now, and a long run is over later than that allows.
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
    const expected = new Webhook(secret).sign(headers['webhook-id'] ?? '', sentAt, body);
    return (headers['webhook-signature'] ?? '').split(' ').includes(expected);
  } catch {
    return false;
  }
}
