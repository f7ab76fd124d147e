import {
  type Address,
  type Cidr,
  contains,
  parseAddress,
  parseCidr,
} from '../../../platform/addresses/parse-address.ts';

/**
 * `reserved` is neither public nor private: only an explicit CIDR allows it.
 * `never` is refused even with one.
 */
type AddressClass = 'public' | 'loopback' | 'private' | 'reserved' | 'never';
type Classified = { class: AddressClass; name: string };
type Range = Classified & { cidr: string; embeds?: readonly ((value: bigint) => bigint)[] };

/** Classifies an address by the longest matching prefix, and by any IPv4 addresses embedded in it. */
export function classify(address: string): Classified {
  const parsed = parseAddress(address);
  return parsed ? classifyParsed(parsed) : { class: 'never', name: 'not an address' };
}

const lowBits = (value: bigint) => value & 0xffff_ffffn;
const bitsFrom = (first: number) => (value: bigint) => lowBits(value >> BigInt(96 - first));
/** RFC 6052 section 2.2 with a /48 prefix: two octets, then octet `u`, then two octets. */
const aroundOctetU = (value: bigint) => (((value >> 64n) & 0xffffn) << 16n) | ((value >> 40n) & 0xffffn);
/** RFC 4380 section 4: Teredo stores the client's address with every bit inverted. */
const inverted = (value: bigint) => lowBits(~value);

/**
 * The IANA IPv4 and IPv6 special-purpose registries, multicast and cloud metadata addresses.
 * Globally reachable rows (AS112, AMT, anycast) are refused too: no webhook receiver runs there.
 */
export const ranges: readonly Range[] = [
  { cidr: '0.0.0.0/8', name: 'this host', class: 'never' },
  { cidr: '10.0.0.0/8', name: 'private network', class: 'private' },
  { cidr: '100.64.0.0/10', name: 'shared address space', class: 'private' },
  { cidr: '100.96.0.96/32', name: 'cloud metadata', class: 'never' },
  { cidr: '100.100.100.200/32', name: 'cloud metadata', class: 'never' },
  { cidr: '127.0.0.0/8', name: 'loopback', class: 'loopback' },
  { cidr: '168.63.129.16/32', name: 'cloud metadata', class: 'never' },
  { cidr: '169.254.0.0/16', name: 'link-local', class: 'never' },
  { cidr: '172.16.0.0/12', name: 'private network', class: 'private' },
  { cidr: '192.0.0.0/24', name: 'IETF protocol assignments', class: 'reserved' },
  { cidr: '192.0.0.192/32', name: 'cloud metadata', class: 'never' },
  { cidr: '192.0.2.0/24', name: 'documentation', class: 'reserved' },
  { cidr: '192.31.196.0/24', name: 'AS112', class: 'reserved' },
  { cidr: '192.52.193.0/24', name: 'AMT', class: 'reserved' },
  { cidr: '192.88.99.0/24', name: '6to4 relay anycast', class: 'reserved' },
  { cidr: '192.168.0.0/16', name: 'private network', class: 'private' },
  { cidr: '192.175.48.0/24', name: 'AS112', class: 'reserved' },
  { cidr: '198.18.0.0/15', name: 'benchmarking', class: 'reserved' },
  { cidr: '198.51.100.0/24', name: 'documentation', class: 'reserved' },
  { cidr: '203.0.113.0/24', name: 'documentation', class: 'reserved' },
  { cidr: '224.0.0.0/4', name: 'multicast', class: 'never' },
  { cidr: '240.0.0.0/4', name: 'reserved', class: 'reserved' },
  { cidr: '255.255.255.255/32', name: 'broadcast', class: 'never' },

  // IPv6 is public only in 2000::/3, as the first two rows say. IPv4-mapped addresses are parsed as IPv4 before this table.
  { cidr: '::/0', name: 'outside the public IPv6 space', class: 'reserved' },
  { cidr: '2000::/3', name: 'public', class: 'public' },
  { cidr: '::/96', name: 'IPv4-compatible', class: 'reserved', embeds: [bitsFrom(96)] },
  { cidr: '::/128', name: 'this host', class: 'never' },
  { cidr: '::1/128', name: 'loopback', class: 'loopback' },
  { cidr: '::ffff:0:0:0/96', name: 'IPv4-translated', class: 'reserved', embeds: [bitsFrom(96)] },
  // Public if its IPv4 address is: behind DNS64 every IPv4-only receiver looks like this.
  { cidr: '64:ff9b::/96', name: 'NAT64', class: 'public', embeds: [bitsFrom(96)] },
  // The operator of this prefix chooses the position of the IPv4 address.
  { cidr: '64:ff9b:1::/48', name: 'local NAT64', class: 'reserved', embeds: [bitsFrom(96), aroundOctetU] },
  { cidr: '100::/64', name: 'discard only', class: 'reserved' },
  { cidr: '100:0:0:1::/64', name: 'dummy prefix', class: 'reserved' },
  { cidr: '2001::/23', name: 'IETF protocol assignments', class: 'reserved' },
  { cidr: '2001::/32', name: 'Teredo', class: 'reserved', embeds: [bitsFrom(32), inverted] },
  { cidr: '2001:db8::/32', name: 'documentation', class: 'reserved' },
  { cidr: '2002::/16', name: '6to4', class: 'reserved', embeds: [bitsFrom(16)] },
  { cidr: '2620:4f:8000::/48', name: 'AS112', class: 'reserved' },
  { cidr: '3fff::/20', name: 'documentation', class: 'reserved' },
  { cidr: '5f00::/16', name: 'segment routing', class: 'reserved' },
  { cidr: 'fc00::/7', name: 'private network', class: 'private' },
  { cidr: 'fd00:42::42/128', name: 'cloud metadata', class: 'never' },
  { cidr: 'fd00:a9fe:a9fe::/48', name: 'cloud metadata', class: 'never' },
  { cidr: 'fd00:ec2::/32', name: 'cloud metadata', class: 'never' },
  { cidr: 'fd20:ce::254/128', name: 'cloud metadata', class: 'never' },
  { cidr: 'fe80::/10', name: 'link-local', class: 'never' },
  { cidr: 'fec0::/10', name: 'site-local', class: 'reserved' },
  { cidr: 'ff00::/8', name: 'multicast', class: 'never' },
];

const longestPrefixFirst = ranges
  .map((range) => ({ ...range, cidr: parsed(range.cidr) }))
  .sort((a, b) => b.cidr.prefix - a.cidr.prefix);

function classifyParsed(address: Address): Classified {
  const range = longestPrefixFirst.find(({ cidr }) => contains(cidr, address));
  if (!range) return { class: 'public', name: 'public' };
  return (range.embeds ?? [])
    .map((extract) => classifyParsed({ bits: 32, value: extract(address.value) }))
    .map(behindTranslator)
    .reduce(worse, { class: range.class, name: range.name });
}

/** A private address behind a translator belongs to the translator's network, so `allowsPrivate` does not cover it. */
function behindTranslator(embedded: Classified): Classified {
  return embedded.class === 'public' ? embedded : worse(embedded, { class: 'reserved', name: embedded.name });
}

const severity: Record<AddressClass, number> = { public: 0, loopback: 1, private: 1, reserved: 2, never: 3 };

function worse(a: Classified, b: Classified): Classified {
  return severity[b.class] > severity[a.class] ? b : a;
}

function parsed(cidr: string): Cidr {
  const result = parseCidr(cidr);
  if (!result) throw new Error(`${cidr} is not CIDR notation`);
  return result;
}
