import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify, ranges } from './address-ranges.ts';

/** Copied separately from the IANA registries, so the table is not tested against itself. */
const specialIpv4Networks = [
  ...['0.0.0.0/8', '127.0.0.0/8'], // RFC 1122
  ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'], // RFC 1918
  '100.64.0.0/10', // RFC 6598
  '169.254.0.0/16', // RFC 3927
  '192.0.0.0/24', // RFC 6890
  ...['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'], // RFC 5737
  ...['192.31.196.0/24', '192.175.48.0/24'], // RFC 7535, RFC 7534
  '192.52.193.0/24', // RFC 7450
  '192.88.99.0/24', // RFC 7526
  '198.18.0.0/15', // RFC 2544
  ...['224.0.0.0/4', '240.0.0.0/4'], // RFC 1112
  '168.63.129.16/32', // Azure
];
const specialIpv4 = blockList('ipv4', specialIpv4Networks);
const globalUnicast = blockList('ipv6', ['2000::/3']);
const specialIpv6Networks = [
  '2001::/23', // RFC 2928
  '2001:db8::/32', // RFC 3849
  '2002::/16', // RFC 3056
  '2620:4f:8000::/48', // RFC 7534
  '3fff::/20', // RFC 9637
];
const specialIpv6 = blockList('ipv6', specialIpv6Networks);
const nat64 = blockList('ipv6', ['64:ff9b::/96']); // RFC 6052

const isPublicIpv4 = (value: number) => !specialIpv4.check(dotted(value), 'ipv4');
function isPublicIpv6(value: bigint): boolean {
  const text = colons(value);
  if (nat64.check(text, 'ipv6')) return isPublicIpv4(Number(value & 0xffff_ffffn));
  return globalUnicast.check(text, 'ipv6') && !specialIpv6.check(text, 'ipv6');
}

describe('every row of the table', () => {
  for (const range of ranges) {
    const { bits, first, last } = bounds(range.cidr);
    const isOverridden = (value: bigint) =>
      ranges.some((other) => {
        const inner = bounds(other.cidr);
        return (
          inner.bits === bits &&
          inner.prefix > bounds(range.cidr).prefix &&
          inner.first <= value &&
          value <= inner.last
        );
      });

    test(`${range.cidr} (${range.name}) covers its first and its last address`, () => {
      for (const edge of [first, last]) {
        if (range.embeds || isOverridden(edge)) continue;
        expect(classify(format(bits, edge))).toEqual({ class: range.class, name: range.name });
      }
    });

    test(`${range.cidr} (${range.name}) and its neighbors are public exactly as IANA lists them`, () => {
      for (const edge of [first - 1n, first, first + 1n, last - 1n, last, last + 1n]) {
        if (edge < 0n || edge >= 1n << BigInt(bits)) continue;
        // Mapped addresses are IPv4, which the IPv4 oracle covers.
        if (bits === 128 && edge >> 32n === 0xffffn) continue;
        const expected = bits === 32 ? isPublicIpv4(Number(edge)) : isPublicIpv6(edge);
        expect([format(bits, edge), classify(format(bits, edge)).class === 'public']).toEqual([
          format(bits, edge),
          expected,
        ]);
      }
    });
  }
});

test('every network in the registries is in the table', () => {
  for (const network of [...specialIpv4Networks, ...specialIpv6Networks]) {
    const { bits, first, last } = bounds(network);
    for (const edge of [first, last]) {
      expect([network, classify(format(bits, edge)).class]).not.toEqual([network, 'public']);
    }
  }
});

const anyIpv4 = fc.oneof(
  fc.integer({ min: 0, max: 0xffff_ffff }),
  inRanges(32).map((value) => Number(value)),
);
const anyIpv6 = fc
  .oneof(
    fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }),
    fc.bigInt({ min: 0x2n << 124n, max: (0x4n << 124n) - 1n }),
    inRanges(128),
  )
  .filter((value) => value >> 32n !== 0xffffn);

test('an IPv4 address is public exactly when the registry says so', () => {
  fc.assert(
    fc.property(anyIpv4, (value) => (classify(dotted(value)).class === 'public') === isPublicIpv4(value)),
    { numRuns: 3_000 },
  );
});

test('an IPv6 address is public exactly when it is in 2000::/3 and in no special range', () => {
  fc.assert(
    fc.property(anyIpv6, (value) => (classify(colons(value)).class === 'public') === isPublicIpv6(value)),
    { numRuns: 3_000 },
  );
});

const wrappings: Record<string, (value: bigint, noise: bigint) => bigint> = {
  'IPv4-mapped': (value) => (0xffffn << 32n) | value,
  'IPv4-compatible': (value) => value,
  'IPv4-translated': (value) => (0xffffn << 48n) | value,
  NAT64: (value) => (0x64_ff9bn << 96n) | value,
  'local NAT64, /96': (value, noise) =>
    (0x64_ff9b_0001n << 80n) | ((noise & 0xffff_ffff_ffffn) << 32n) | value,
  'local NAT64, /48': (value, noise) =>
    (0x64_ff9b_0001n << 80n) |
    ((value >> 16n) << 64n) |
    ((value & 0xffffn) << 40n) |
    (noise & 0xff_ffff_ffffn),
  '6to4': (value, noise) => (0x2002n << 112n) | (value << 80n) | (noise & ((1n << 80n) - 1n)),
  'Teredo client': (value, noise) =>
    (0x2001_0000n << 96n) | ((noise & ((1n << 64n) - 1n)) << 32n) | (value ^ 0xffff_ffffn),
  'Teredo server': (value, noise) => (0x2001_0000n << 96n) | (value << 64n) | (noise & ((1n << 64n) - 1n)),
};
// 8.8.8.8 wherever another address could stand: zeros would be 0.0.0.0, which is never allowed either.
const publicNoise = 0x0808_0808_0808_0808_0808n;
const noise = fc.bigInt({ min: 0n, max: (1n << 80n) - 1n });

describe.each(Object.entries(wrappings))('%s', (name, wrap) => {
  test('an embedded non-public address is not public', () => {
    fc.assert(
      fc.property(inRanges(32), noise, (value, rest) => {
        fc.pre(!isPublicIpv4(Number(value)));
        return classify(colons(wrap(value, rest))).class !== 'public';
      }),
      { numRuns: 1_000 },
    );
  });

  test('embedded link-local and metadata addresses are never allowed', () => {
    for (const text of [
      '169.254.0.0',
      '169.254.169.254',
      '169.254.170.2',
      '100.100.100.200',
      '168.63.129.16',
    ]) {
      for (const rest of [0n, publicNoise])
        expect(classify(colons(wrap(numberOf(text), rest))).class).toBe('never');
    }
  });

  test('an embedded private address is not private here, unless mapped', () => {
    const { class: inside } = classify(colons(wrap(numberOf('10.1.2.3'), 0n)));
    if (name === 'IPv4-mapped') expect(inside).toBe('private');
    else expect(['reserved', 'never']).toContain(inside);
  });
});

test('a public IPv4 address is public when mapped or behind NAT64, and in no other wrapping', () => {
  for (const [name, wrap] of Object.entries(wrappings)) {
    const isPublic = classify(colons(wrap(numberOf('93.184.215.14'), 0n))).class === 'public';
    expect([name, isPublic]).toEqual([name, name === 'IPv4-mapped' || name === 'NAT64']);
  }
});

test('metadata, link-local and multicast addresses are never allowed', () => {
  const addresses = [
    ...['169.254.169.254', '169.254.170.2', '100.100.100.200', '100.96.0.96', '168.63.129.16', '192.0.0.192'],
    ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42', 'fd00:a9fe:a9fe::1'],
    ...['fe80::a9fe:a9fe', 'febf::1', '0.0.0.0', '::', '224.0.0.251', '255.255.255.255', 'ff02::1'],
  ];
  for (const address of addresses) {
    expect([address, classify(address).class]).toEqual([address, 'never']);
  }
});

test('text that is not a plain address is never allowed', () => {
  const texts = [
    '',
    ' ',
    'localhost',
    '127.1',
    '0177.0.0.1',
    '2130706433',
    '1.2.3.4.5',
    '[::1]',
    '::1%lo',
    'fe80::1%eth0',
    '2606:4700::1111%1',
    '::ffff:1.2.3',
    '1:2:3',
  ];
  for (const text of texts) expect([text, classify(text).class]).toEqual([text, 'never']);
});

test('every spelling of an IPv6 address gets the same class', () => {
  for (const text of ['::1', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001', '::0.0.0.1']) {
    expect(classify(text).class).toBe('loopback');
  }
  expect(classify('FD00:EC2::254').class).toBe('never');
});

function inRanges(bits: 32 | 128): fc.Arbitrary<bigint> {
  const arbitraries = ranges
    .map(({ cidr }) => bounds(cidr))
    .filter((range) => range.bits === bits)
    .map(({ first, last }) => fc.bigInt({ min: first, max: last }));
  return fc.oneof(...arbitraries);
}

function blockList(family: 'ipv4' | 'ipv6', cidrs: string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = '', prefix] = cidr.split('/');
    list.addSubnet(network, Number(prefix), family);
  }
  return list;
}

function bounds(cidr: string) {
  const [network = '', length] = cidr.split('/');
  const bits: 32 | 128 = network.includes(':') ? 128 : 32;
  const prefix = Number(length);
  const first = numberOf(network);
  return { bits, prefix, first, last: first + (1n << BigInt(bits - prefix)) - 1n };
}

/** Uses the URL parser, which is independent of our own. */
function numberOf(text: string): bigint {
  if (!text.includes(':')) return text.split('.').reduce((value, part) => value * 256n + BigInt(part), 0n);
  const [head = '', tail = ''] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  return BigInt(`0x${groups.map((group) => group.padStart(4, '0')).join('')}`);
}

function format(bits: number, value: bigint): string {
  return bits === 32 ? dotted(Number(value)) : colons(value);
}

function dotted(value: number): string {
  return [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
}

function colons(value: bigint): string {
  return value
    .toString(16)
    .padStart(32, '0')
    .replace(/(.{4})(?=.)/g, '$1:');
}
