import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { checkUrl } from './check-url.ts';
import type { AddressPolicy } from './policy.ts';
import type { ResolveName } from './resolve-name.ts';

const live: AddressPolicy = { allowsHttp: false, allowsPrivate: false, allowedCidrs: [] };
const hosted: AddressPolicy = { ...live, allowsHttp: true };
const sandbox: AddressPolicy = { ...hosted, allowsPrivate: true };

const answers =
  (...addresses: string[]): ResolveName =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
const nowhere: ResolveName = async () => {
  throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
};
const mustNotAsk: ResolveName = async (hostname) => {
  throw new Error(`${hostname} is a literal and was looked up`);
};

describe('the URL itself', () => {
  test('comes back as the client will read it, without a fragment', async () => {
    const urls = {
      'HTTPS://Example.COM': 'https://example.com/',
      'https://example.com:443/a/../b?c=d#e': 'https://example.com/b?c=d',
      ' https://exam\tple.com/\n': 'https://example.com/',
      'https://bücher.example/': 'https://xn--bcher-kva.example/',
      'https:\\\\example.com\\a': 'https://example.com/a',
    };
    for (const [given, url] of Object.entries(urls)) {
      expect(await checkUrl(given, live, nowhere)).toEqual({ ok: true, url });
    }
  });

  test('is refused when it is none, or of another scheme, with the schemes that are allowed', async () => {
    for (const url of [
      '',
      'example.com',
      '/path',
      'https://',
      'https://a b/',
      'https://1.2.3.4.5/',
      'https://[::1',
      'https://a:65536/',
      'https://[fe80::1%25eth0]/',
    ]) {
      expect(await checkUrl(url, live, nowhere)).toEqual({
        ok: false,
        why: expect.stringContaining('`https`'),
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
      expect(await checkUrl(url, sandbox, nowhere)).toEqual({
        ok: false,
        why: expect.stringContaining('`https` and `http`'),
      });
    }
  });

  test('may be http only where that is allowed, whatever the address', async () => {
    const policy = { ...live, allowedCidrs: ['10.0.0.0/8'] };
    expect(await checkUrl('http://10.0.0.1/', policy, mustNotAsk)).toMatchObject({ ok: false });
    expect(await checkUrl('https://10.0.0.1/', policy, mustNotAsk)).toMatchObject({ ok: true });
    expect(await checkUrl('http://8.8.8.8/', hosted, mustNotAsk)).toMatchObject({ ok: true });
  });

  test('carries no credentials and no port 0', async () => {
    for (const url of [
      'https://user@example.com/',
      'https://user:pass@example.com/',
      'https://:pass@example.com/',
    ]) {
      expect(await checkUrl(url, live, nowhere)).toMatchObject({
        ok: false,
        why: expect.stringContaining('password'),
      });
    }
    expect(await checkUrl('https://example.com:0/', live, nowhere)).toMatchObject({
      ok: false,
      why: expect.stringContaining('1 to 65535'),
    });
  });

  test('is not quoted at length', async () => {
    const checked = await checkUrl(`https://${'a.'.repeat(900)}example/`, live, answers('10.0.0.1'));
    expect(checked).toMatchObject({ ok: false });
    if (!checked.ok) expect(checked.why.length).toBeLessThan(300);
  });
});

describe('names', () => {
  test('are refused for one inner answer among good ones, and the answer is not told', async () => {
    const checked = await checkUrl(
      'https://mixed.example/',
      live,
      answers('8.8.8.8', '10.20.30.40', '2606:4700::1'),
    );
    expect(checked).toMatchObject({ ok: false, why: expect.stringContaining('mixed.example') });
    expect(JSON.stringify(checked)).not.toContain('10.20.30.40');
  });

  test('are accepted when they do not resolve', async () => {
    expect(await checkUrl('https://later.example/', live, nowhere)).toMatchObject({ ok: true });
    expect(await checkUrl('https://later.example/', live, answers())).toMatchObject({ ok: true });
  });

  test('are accepted when nobody answers within two seconds', async () => {
    vi.useFakeTimers();
    try {
      const checked = checkUrl('https://hangs.example/', live, () => new Promise(() => {}));
      await vi.advanceTimersByTimeAsync(2_000);
      expect(await checked).toMatchObject({ ok: true });
      await checkUrl('https://answers.example/', live, answers('8.8.8.8'));
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test('localhost resolves like others', async () => {
    expect(await checkUrl('http://localhost:4242/', sandbox)).toMatchObject({ ok: true });
    expect(await checkUrl('http://localhost:4242/', hosted)).toMatchObject({ ok: false });
  });

  test('localhost and metadata names are what they are, resolving or not', async () => {
    for (const name of [
      'localhost',
      'LOCALHOST.',
      'a.localhost',
      'metadata.google.internal',
      'metadata.google.internal.',
    ]) {
      expect(await checkUrl(`http://${name}/`, hosted, nowhere)).toMatchObject({ ok: false });
    }
    expect(await checkUrl('http://localhost/', sandbox, nowhere)).toMatchObject({ ok: true });
    expect(await checkUrl('http://metadata.google.internal/', sandbox, nowhere)).toMatchObject({ ok: false });
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
  const innerFirst = fc.constantFrom(0, 10, 127, 169, 172, 192, 198, 224, 240, 255);
  const address = fc.tuple(
    fc.oneof(octet, innerFirst),
    fc.oneof(octet, fc.constantFrom(0, 16, 31, 168, 254)),
    octet,
    octet,
  );

  test('is judged as the one address that it is', async () => {
    await fc.assert(
      fc.asyncProperty(address, spelling, async (octets, spell) => {
        const isSpecial = special.check(octets.join('.'), 'ipv4');
        const checked = await checkUrl(`http://${spell(octets)}/`, hosted, mustNotAsk);
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
const inDisguise: ((text: string) => string)[] = [
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
  fc.tuple(fc.constantFrom(...inBase), fc.constantFrom(...inDisguise)).map(
    ([write, disguise]): Spell =>
      (octets) =>
        disguise(write(octets)),
  ),
  fc.constantFrom(...mapped),
);
