import { createHmac } from 'node:crypto';
import { serviceSignature } from '../../service-signature.ts';

type Signed = { eventId: string; body: string; atSeconds: number; secrets: string[] };

/**
 * The headers that authenticate a delivery, in both families that receivers verify: `Service-Signature` over
 * `<t>.<body>` keyed by the whole secret, and Standard Webhooks over `<id>.<t>.<body>` keyed by its decoded part. While a
 * rotation overlaps there is one signature per live secret.
 */
export function signatureHeaders({ eventId, body, atSeconds, secrets }: Signed): Record<string, string> {
  const standard = secrets.map(
    (secret) => `v1,${standardHmac(decoded(secret), `${eventId}.${atSeconds}.${body}`)}`,
  );
  return {
    'service-signature': serviceSignature(secrets, atSeconds, body),
    'webhook-id': eventId,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': standard.join(' '),
  };
}

function standardHmac(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}

function decoded(secret: string): Buffer {
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}
