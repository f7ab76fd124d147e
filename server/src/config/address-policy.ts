import type { AddressPolicy } from '../platform/addresses/address-policy.ts';
import type { Config } from './settings.ts';

/** Live mode sends to public addresses only. A sandbox on loopback may also send to loopback and private addresses. */
export function addressPolicyOf({ mode, host, webhookAllowCidrs }: Config): AddressPolicy {
  const isLocal = host === 'localhost' || host === '::1' || host.startsWith('127.');
  return {
    allowsHttp: mode === 'sandbox',
    allowsPrivate: mode === 'sandbox' && isLocal && webhookAllowCidrs === null,
    allowedCidrs: webhookAllowCidrs ?? [],
  };
}
