import { contains, parseAddress, parseCidr } from '../../addresses/parse-address.ts';
import { classify } from './address-ranges.ts';
import type { AddressPolicy } from './policy.ts';

type Verdict = { allowed: true } | { allowed: false; why: string };

/** May webhooks go to this address? `why` leaves the address out: that of a name may be the operator's to know. */
export function isAllowedAddress(address: string, policy: AddressPolicy): Verdict {
  const found = classify(address);
  if (found.class === 'public') return { allowed: true };
  if (found.class !== 'never') {
    const isOwnNetwork = found.class === 'loopback' || found.class === 'private';
    if (isOwnNetwork && policy.allowsPrivate) return { allowed: true };
    if (isListed(address, policy.allowedCidrs)) return { allowed: true };
  }
  const allowed = policy.allowsPrivate ? 'public, private and loopback addresses' : 'public addresses';
  return { allowed: false, why: `webhooks are sent to ${allowed} only, and this one is not (${found.name})` };
}

/** What is not CIDR notation allows nothing. */
function isListed(address: string, cidrs: readonly string[]): boolean {
  const parsed = parseAddress(address);
  return cidrs.some((text) => {
    const cidr = parseCidr(text);
    return parsed !== null && cidr !== null && contains(cidr, parsed);
  });
}
