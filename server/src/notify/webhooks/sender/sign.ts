import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Keyring } from '../../../platform/secrets/keyring.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
import { serviceSignature } from '../../../platform/secrets/service-signature.ts';
import type { ClaimedDelivery } from './sql/claim-deliveries.ts';

type Owner = Pick<ClaimedDelivery, 'account_id' | 'endpoint_id' | 'secrets'>;

const maxCached = 1_000;

/**
 * Opens and caches endpoints' signing keys: opening one costs as much as signing a delivery.
 * The cache key includes the endpoint; otherwise a sealed secret copied to another endpoint's row would open here.
 */
export function createSigningKeys(
  keyring: Keyring,
): (owner: Owner) => SigningKeys[] | Promise<SigningKeys[]> {
  const cache = new Map<string, SigningKeys[]>();

  async function open(cacheKey: string, { account_id, endpoint_id, secrets }: Owner): Promise<SigningKeys[]> {
    const opened = await Promise.all(
      secrets.split(' ').map(async (secret) => {
        const [uuid = '', sealed = ''] = secret.split(':');
        return signingKeysOf(await keyring.open(sealed, signingSecretPlace(account_id, endpoint_id, uuid)));
      }),
    );
    if (cache.size >= maxCached) cache.delete(cache.keys().next().value as string);
    cache.set(cacheKey, opened);
    return opened;
  }

  return (owner) => {
    if (owner.secrets === '') return [];
    const cacheKey = `${owner.account_id} ${owner.endpoint_id} ${owner.secrets}`;
    return cache.get(cacheKey) ?? open(cacheKey, owner);
  };
}

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
