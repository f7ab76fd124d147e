import type { AddressPolicy } from '../webhooks/guard/policy.ts';
import type { Config } from './settings.ts';

/** Live sends to public addresses only. A sandbox on a developer's own machine also sends to that machine and its network. */
export function addressPolicyOf({ mode, host, webhookAllowCidrs }: Config): AddressPolicy {
  const isLocal = host === 'localhost' || host === '::1' || host.startsWith('127.');
  return {
    allowsHttp: mode === 'sandbox',
    allowsPrivate: mode === 'sandbox' && isLocal && webhookAllowCidrs === null,
    allowedCidrs: webhookAllowCidrs ?? [],
  };
}
