import { createHmac } from 'node:crypto';

type Signed = { eventId: string; body: string; atSeconds: number; secrets: string[] };

/**
 * The headers that authenticate a delivery, in both families that receivers verify: `Service-Signature` over
 * `<t>.<body>` keyed by the whole secret, and Standard Webhooks over `<id>.<t>.<body>` keyed by its decoded part. While a
 * rotation overlaps there is one signature per live secret.
 */
export function signatureHeaders({ eventId, body, atSeconds, secrets }: Signed): Record<string, string> {
  const ours = secrets.map((secret) => `v1=${hmac(secret, `${atSeconds}.${body}`, 'hex')}`);
  const standard = secrets.map(
    (secret) => `v1,${hmac(decoded(secret), `${eventId}.${atSeconds}.${body}`, 'base64')}`,
  );
  return {
    'service-signature': [`t=${atSeconds}`, ...ours].join(','),
    'webhook-id': eventId,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': standard.join(' '),
  };
}

function hmac(key: string | Buffer, text: string, encoding: 'hex' | 'base64'): string {
  return createHmac('sha256', key).update(text).digest(encoding);
}

function decoded(secret: string): Buffer {
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}
