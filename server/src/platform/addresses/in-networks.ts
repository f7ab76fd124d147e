import { type Cidr, contains, parseAddress, parseCidr } from './parse-address.ts';

/** For text that was checked when it was stored. */
export function requireCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new Error('a stored network is not valid');
  return cidr;
}

/** Whether one of the networks contains all of this one. */
export function isWithinOneOf(cidrs: readonly Cidr[], inner: Cidr): boolean {
  return cidrs.some((cidr) => cidr.prefix <= inner.prefix && contains(cidr, inner));
}

/** Whether one of the networks contains the address. False for text that is no address. */
export function isInOneOf(cidrs: readonly Cidr[], text: string | undefined): boolean {
  const address = parseAddress(text ?? '');
  return address !== null && cidrs.some((cidr) => contains(cidr, address));
}
