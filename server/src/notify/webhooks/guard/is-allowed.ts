import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { contains, parseAddress, parseCidr } from '../../../platform/addresses/parse-address.ts';
import { classify } from './address-ranges.ts';

type Verdict = { allowed: true } | { allowed: false; reason: string };

/** `reason` omits the address: customers must not learn what a name resolves to in the operator's network. */
export function isAllowedAddress(address: string, policy: AddressPolicy): Verdict {
  const found = classify(address);
  if (found.class === 'public') return { allowed: true };
  if (found.class !== 'never') {
    const isOwnNetwork = found.class === 'loopback' || found.class === 'private';
    if (isOwnNetwork && policy.allowsPrivate) return { allowed: true };
    if (isListed(address, policy.allowedCidrs)) return { allowed: true };
  }
  const allowed = policy.allowsPrivate ? 'public, private and loopback addresses' : 'public addresses';
  return { allowed: false, reason: `webhooks are sent only to ${allowed}, not this one (${found.name})` };
}

/** An entry that is not valid CIDR notation allows nothing. */
function isListed(address: string, cidrs: readonly string[]): boolean {
  const parsed = parseAddress(address);
  return cidrs.some((text) => {
    const cidr = parseCidr(text);
    return parsed !== null && cidr !== null && contains(cidr, parsed);
  });
}
