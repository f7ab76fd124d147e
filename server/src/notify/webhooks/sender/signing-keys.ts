import type { Keyring } from '../../../platform/secrets/keyring.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
import { type SigningKeys, signingKeysOf } from './sign.ts';
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
