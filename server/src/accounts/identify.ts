import type { Identity } from '@simplane/contract';
import { unixSeconds } from '../clock.ts';
import type { Context } from '../context.ts';

/** `GET /v1/me`. All data comes from the authenticated key. */
export async function identify(ctx: Context): Promise<Identity> {
  const { account, apiKey, mode, apiVersion } = ctx;
  return {
    object: 'identity',
    account: { id: account.id, name: account.name },
    api_key: {
      id: apiKey.id,
      name: apiKey.name,
      scopes: apiKey.scopes,
      last4: apiKey.last4,
      created: unixSeconds(apiKey.createdAt),
    },
    mode,
    livemode: mode === 'live',
    api_version: apiVersion,
  };
}
