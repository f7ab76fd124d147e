import type { Keyring } from '../../secrets/keyring.ts';
import { signingSecretPlace } from '../../secrets/sealed-places.ts';
import { type SigningKeys, signingKeysOf } from './sign.ts';
import type { ClaimedDelivery } from './sql.ts';

type Owner = Pick<ClaimedDelivery, 'account_id' | 'endpoint_id' | 'secrets'>;

const mostKnown = 1_000;

/**
 * The keys behind an endpoint's secrets. Opened once for many deliveries: each time it would cost as much as signing does.
 * Remembered by endpoint as well as by text, else a secret that was copied to another endpoint would be found here.
 */
export function createSigningKeys(
  keyring: Keyring,
): (owner: Owner) => SigningKeys[] | Promise<SigningKeys[]> {
  const known = new Map<string, SigningKeys[]>();

  async function open(id: string, { account_id, endpoint_id, secrets }: Owner): Promise<SigningKeys[]> {
    const opened = await Promise.all(
      secrets.split(' ').map(async (secret) => {
        const [uuid = '', sealed = ''] = secret.split(':');
        return signingKeysOf(await keyring.open(sealed, signingSecretPlace(account_id, endpoint_id, uuid)));
      }),
    );
    if (known.size >= mostKnown) known.delete(known.keys().next().value as string);
    known.set(id, opened);
    return opened;
  }

  return (owner) => {
    if (owner.secrets === '') return [];
    const id = `${owner.account_id} ${owner.endpoint_id} ${owner.secrets}`;
    return known.get(id) ?? open(id, owner);
  };
}
