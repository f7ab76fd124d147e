import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number of 32 or 128 bits. */
export type Address = { bits: 32 | 128; value: bigint };
export type Cidr = Address & { prefix: number };

/** Null for invalid text, and for an address with a zone, which names an interface of this machine. */
export function parseAddress(text: string): Address | null {
  if (isIPv4(text)) return { bits: 32, value: ipv4Value(text) };
  if (!isIPv6(text) || text.includes('%')) return null;
  const value = ipv6Value(text);
  // An IPv4-mapped address is an IPv4 address: the packets are IPv4.
  return value >> 32n === 0xffffn ? { bits: 32, value: value & 0xffff_ffffn } : { bits: 128, value };
}

/** Null for invalid CIDR notation. Bits beyond the prefix are ignored. */
export function parseCidr(text: string): Cidr | null {
  const [network = '', length = '', ...rest] = text.split('/');
  const address = parseAddress(network);
  if (!address || rest.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(length)) return null;
  const isMapped = address.bits === 32 && network.includes(':');
  const prefix = Number(length) - (isMapped ? 96 : 0);
  return prefix >= 0 && prefix <= address.bits ? { ...address, prefix } : null;
}

export function contains(cidr: Cidr, address: Address): boolean {
  const rest = BigInt(cidr.bits - cidr.prefix);
  return cidr.bits === address.bits && cidr.value >> rest === address.value >> rest;
}

function ipv4Value(text: string): bigint {
  return text.split('.').reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function ipv6Value(text: string): bigint {
  const [head = '', tail] = hexGroupsOnly(text).split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  const zeros = Array<string>(8 - before.length - after.length).fill('0');
  return [...before, ...zeros, ...after].reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

/** Turns `::ffff:127.0.0.1` into `::ffff:7f00:1`. */
function hexGroupsOnly(text: string): string {
  if (!text.includes('.')) return text;
  const start = text.lastIndexOf(':') + 1;
  const value = ipv4Value(text.slice(start));
  return `${text.slice(0, start)}${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':');
}
