import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AddressPolicy } from '../../../platform/addresses/address-policy.ts';
import { checkUrl } from './check-url.ts';

const live: AddressPolicy = { allowsHttp: false, allowsPrivate: false, allowedCidrs: [] };
const hosted: AddressPolicy = { ...live, allowsHttp: true };
const sandbox: AddressPolicy = { ...hosted, allowsPrivate: true };

describe('the URL itself', () => {
  test('is returned as the client reads it, without a fragment', () => {
    const urls = {
      'HTTPS://Example.COM': 'https://example.com/',
      'https://example.com:443/a/../b?c=d#e': 'https://example.com/b?c=d',
      ' https://exam\tple.com/\n': 'https://example.com/',
      'https://bücher.example/': 'https://xn--bcher-kva.example/',
      'https:\\\\example.com\\a': 'https://example.com/a',
    };
    for (const [given, url] of Object.entries(urls)) {
      expect(checkUrl(given, live)).toEqual({ ok: true, url });
    }
  });

  test('is refused if invalid or of another scheme, and the reason names the allowed schemes', () => {
    for (const url of [
      '',
      '/path',
      'https://',
      'https://a b/',
      'https://1.2.3.4.5/',
      'https://[::1',
      'https://a:65536/',
      'https://[fe80::1%25eth0]/',
    ]) {
      expect(checkUrl(url, live)).toEqual({
        ok: false,
        reason: expect.stringContaining('`https`'),
      });
    }
    for (const url of [
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'data:,a',
      'ws://example.com/',
      'gopher://127.0.0.1:6379/_',
      'unix:/run/a.sock',
    ]) {
      expect(checkUrl(url, sandbox)).toEqual({
        ok: false,
        reason: expect.stringContaining('`https` and `http`'),
      });
    }
  });

  test.each(['localhost:3000/hook', 'localhost', '127.0.0.1:3000', 'example.com/hook?a=b'])(
    'without a scheme is refused, and the reason says how to start it: %s',
    (url) => {
      const reason = `“${url}” has no scheme: start it with \`http://\` or \`https://\`.`;
      expect(checkUrl(url, sandbox)).toEqual({ ok: false, reason });
      expect(checkUrl(url, live)).toMatchObject({ reason: expect.stringContaining('with `https://`.') });
    },
  );

  test('may be http only if the policy allows it, whatever the address', () => {
    const policy = { ...live, allowedCidrs: ['10.0.0.0/8'] };
    expect(checkUrl('http://10.0.0.1/', policy)).toMatchObject({ ok: false });
    expect(checkUrl('https://10.0.0.1/', policy)).toMatchObject({ ok: true });
    expect(checkUrl('http://8.8.8.8/', hosted)).toMatchObject({ ok: true });
  });

  test('is refused with credentials or port 0', () => {
    for (const url of [
      'https://user@example.com/',
      'https://user:pass@example.com/',
      'https://:pass@example.com/',
    ]) {
      expect(checkUrl(url, live)).toMatchObject({
        ok: false,
        reason: expect.stringContaining('password'),
      });
    }
    expect(checkUrl('https://example.com:0/', live)).toMatchObject({
      ok: false,
      reason: expect.stringContaining('1 to 65535'),
    });
  });

  test('is clipped in the reason', () => {
    const checked = checkUrl(`https://${'a.'.repeat(900)}localhost/`, live);
    expect(checked).toMatchObject({ ok: false });
    if (!checked.ok) expect(checked.reason.length).toBeLessThan(300);
  });
});

describe('names', () => {
  test('are accepted whatever they resolve to, so nothing about the operator’s network leaks', () => {
    for (const name of [
      'later.example',
      'database',
      'postgres.svc.cluster.local',
      'localtest.me',
      'localhost.example',
    ]) {
      expect(checkUrl(`https://${name}/`, live)).toEqual({ ok: true, url: `https://${name}/` });
    }
  });

  test('of localhost and metadata servers are checked by their fixed addresses', () => {
    for (const name of [
      'localhost',
      'LOCALHOST.',
      'a.localhost',
      'metadata.google.internal',
      'metadata.google.internal.',
    ]) {
      expect(checkUrl(`http://${name}/`, hosted)).toMatchObject({ ok: false });
    }
    expect(checkUrl('http://localhost:4242/', sandbox)).toMatchObject({ ok: true });
    expect(checkUrl('http://metadata.google.internal/', sandbox)).toMatchObject({ ok: false });
  });
});

describe('every spelling of an IPv4 address', () => {
  const special = new BlockList();
  const networks = [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '224.0.0.0/3',
  ];
  for (const network of networks) {
    const [base = '', prefix] = network.split('/');
    special.addSubnet(base, Number(prefix), 'ipv4');
  }
  const others = [
    '192.0.0.0',
    '192.0.2.0',
    '192.31.196.0',
    '192.52.193.0',
    '192.88.99.0',
    '192.175.48.0',
    '198.51.100.0',
    '203.0.113.0',
  ];
  for (const base of others) special.addSubnet(base, 24, 'ipv4');
  special.addAddress('168.63.129.16', 'ipv4');

  const octet = fc.integer({ min: 0, max: 255 });
  const internalFirst = fc.constantFrom(0, 10, 127, 169, 172, 192, 198, 224, 240, 255);
  const address = fc.tuple(
    fc.oneof(octet, internalFirst),
    fc.oneof(octet, fc.constantFrom(0, 16, 31, 168, 254)),
    octet,
    octet,
  );

  test('gets the same verdict as the plain address', () => {
    fc.assert(
      fc.property(address, spelling, (octets, spell) => {
        const isSpecial = special.check(octets.join('.'), 'ipv4');
        const checked = checkUrl(`http://${spell(octets)}/`, hosted);
        expect([spell(octets), checked.ok]).toEqual([spell(octets), !isSpecial]);
      }),
      { numRuns: 2_000 },
    );
  });
});

type Octets = [number, number, number, number];
type Spell = (octets: Octets) => string;

const number = (octets: Octets) => octets.reduce((value, octet) => value * 256 + octet, 0);
const inBase: Spell[] = [
  (octets) => octets.join('.'),
  (octets) => octets.map((octet) => `0${octet.toString(8)}`).join('.'),
  (octets) => octets.map((octet) => `0x${octet.toString(16)}`).join('.'),
  (octets) => octets.map((octet) => `0X00${octet.toString(16).toUpperCase()}`).join('.'),
  (octets) => `${number(octets)}`,
  (octets) => `0x${number(octets).toString(16)}`,
  (octets) => `0${number(octets).toString(8)}`,
  ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  ([a, b, c, d]) => `${a}.0${b.toString(8)}.0x${(c * 256 + d).toString(16)}`,
];
const disguises: ((text: string) => string)[] = [
  (text) => text,
  (text) => `${text}.`,
  (text) => [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join(''),
  (text) => text.replace(/[0-9a-zA-Z]/g, (char) => String.fromCharCode(char.charCodeAt(0) + 0xfee0)),
  (text) => text.replaceAll('.', '。'),
  (text) =>
    text.replace(/\d/g, (digit) => (digit === '0' ? '⓪' : String.fromCharCode(0x245f + Number(digit)))),
  (text) => [...text].join('\t'),
  (text) => [...text].join('\u00ad'),
];
const mapped: Spell[] = [
  (octets) => `[::ffff:${octets.join('.')}]`,
  (octets) => `[::FFFF:${(number(octets) >>> 16).toString(16)}:${(number(octets) & 0xffff).toString(16)}]`,
  (octets) => `[0:0:0:0:0:ffff:${octets.join('.')}]`,
  (octets) => `[64:ff9b::${octets.join('.')}]`,
];
const spelling: fc.Arbitrary<Spell> = fc.oneof(
  fc.tuple(fc.constantFrom(...inBase), fc.constantFrom(...disguises)).map(
    ([write, disguise]): Spell =>
      (octets) =>
        disguise(write(octets)),
  ),
  fc.constantFrom(...mapped),
);
