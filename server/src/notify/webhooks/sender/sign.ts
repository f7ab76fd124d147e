import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { serviceSignature } from '../../../platform/secrets/service-signature.ts';

type ToSign = { eventId: string; body: string; atSeconds: number; secrets: SigningKeys[] };

/** The secret in the form each signature scheme uses. */
export type SigningKeys = { whole: KeyObject; decoded: KeyObject };

export function signingKeysOf(secret: string): SigningKeys {
  return {
    whole: createSecretKey(secret, 'utf8'),
    decoded: createSecretKey(secret.slice('whsec_'.length), 'base64'),
  };
}

/**
 * Signs a delivery under both schemes receivers verify: `Service-Signature` over `<t>.<body>` with the whole secret, and
 * Standard Webhooks over `<id>.<t>.<body>` with its decoded part. During a rotation there is one signature per live secret.
 */
export function signatureHeaders({ eventId, body, atSeconds, secrets }: ToSign): Record<string, string> {
  const standard = secrets.map(
    ({ decoded }) => `v1,${standardHmac(decoded, `${eventId}.${atSeconds}.${body}`)}`,
  );
  return {
    'service-signature': serviceSignature(
      secrets.map(({ whole }) => whole),
      atSeconds,
      body,
    ),
    'webhook-id': eventId,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': standard.join(' '),
  };
}

function standardHmac(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}
