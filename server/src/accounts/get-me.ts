import type { Identity } from '@simplane/contract';
import { unixSeconds } from '../platform/clock.ts';
import type { Account, OperatorContext } from './context.ts';

/** `GET /v1/me`. All data comes from the authenticated key. An operator's key has no account. */
export async function getMe(ctx: OperatorContext & { account: Account | null }): Promise<Identity> {
  const { account, apiKey, mode, apiVersion } = ctx;
  return {
    object: 'identity',
    account: account && { id: account.id, name: account.name },
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
