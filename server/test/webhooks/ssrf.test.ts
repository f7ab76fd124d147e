import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { checkUrl } from '../../src/notify/webhooks/guard/check-url.ts';
import { createGuardedAgent, type GuardedRequest } from '../../src/notify/webhooks/guard/connector.ts';
import type { AddressPolicy } from '../../src/platform/addresses/address-policy.ts';

const publicOnly: AddressPolicy = { allowsHttp: true, allowsPrivate: false, allowedCidrs: [] };
const sandbox: AddressPolicy = { ...publicOnly, allowsPrivate: true };
const widest: AddressPolicy = { ...sandbox, allowedCidrs: ['0.0.0.0/0', '::/0', '169.254.169.254/32'] };

/** An internal server that counts connections; its 200 would show a hole in the guard as a success. */
let visits = 0;
const server = createServer((socket) => {
  visits++;
  socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret');
});
const servers = [server];
let port: number;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  port = (server.address() as AddressInfo).port;
  // The same port on ::1, if this machine has IPv6, for spellings of that address.
  const second = createServer(() => visits++);
  const opened = once(second, 'listening').then(() => servers.push(second));
  second.listen(port, '::1');
  await opened.catch(() => {});
});
afterAll(() => {
  for (const each of servers) each.close();
});
afterEach(() => {
  visits = 0;
});

/** Simulates a DNS zone the attacker controls. */
const zone: Record<string, readonly string[]> = {
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'app.localhost': ['127.0.0.1'],
  'localtest.me': ['127.0.0.1'],
  'lvh.me': ['::1', '127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  '7f000001.nip.io': ['127.0.0.1'],
  'mapped.attacker.example': ['::ffff:127.0.0.1'],
  'nat64.attacker.example': ['64:ff9b::7f00:1'],
  'sixtofour.attacker.example': ['2002:7f00:1::'],
  'zero.attacker.example': ['0.0.0.0'],
  'unspecified.attacker.example': ['::'],
  'private.attacker.example': ['192.168.1.1'],
  'odd.attacker.example': ['0177.0.0.1'],
  'scoped.attacker.example': ['fe80::1%lo'],
  'metadata.google.internal': ['169.254.169.254'],
  'metadata.goog': ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254'],
  'metadata.attacker.example': ['fd00:ec2::254'],
  'alibaba.attacker.example': ['100.100.100.200'],
};
/** Names with a fixed meaning are refused at creation; the others are not resolved there. */
const isFixed = (name: string) => /localhost|^metadata\.goog|^instance-data/i.test(name);

const internalHosts = [
  // Spellings of loopback.
  ...[
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '127.127.127.127',
    '0177.0.0.1',
    '0177.0.0.01',
    '00000177.1',
  ],
  ...[
    '0x7f.1',
    '0x7F.0x0.0x0.0x1',
    '0x7f000001',
    '0x7f.0.0.1',
    '2130706433',
    '017700000001',
    '0x000007f000001',
  ],
  ...['①②⑦.⓪.⓪.①', '１２７.０.０.１', '127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '127%2e0%2e0%2e1'],
  ...['%31%32%37%2e%30%2e%30%2e%31', '%31%32%37.0.0.1', '12\t7.0.0.1', '127.0.\n0.1', '127.0.0\u00ad.1'],
  ...['0', '0.0.0.0', '0x0', '00', '0.0', '0.0.0.1'],
  // IPv6, and IPv4 inside it.
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[0000::0001]', '[::0.0.0.1]', '[0:0:0:0:0:0:0:0]'],
  ...[
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::FFFF:7F00:0001]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::ffff:0.0.0.0]',
  ],
  ...['[::127.0.0.1]', '[::7f00:1]', '[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]'],
  ...['[64:ff9b:1::7f00:1]', '[64:ff9b:1:7f00:0:100::]', '[2002:7f00:1::]', '[2002:7f00:0001::1]'],
  ...[
    '[2001:0:5ef5:79fd::80ff:fffe]',
    '[2001:0:7f00:1::]',
    '[fe80::1]',
    '[fec0::1]',
    '[fd00::1]',
    '[fc00::1]',
  ],
  // Internal networks and metadata.
  ...['10.0.0.1', '012.0.0.1', '167772161', '172.16.0.1', '172.31.255.254', '192.168.0.1', '0300.0250.0.1'],
  ...['100.64.0.1', '198.18.0.1', '192.0.2.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.43518', '169.254.170.2'],
  ...[
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
  ],
  ...['100.100.100.200', '168.63.129.16', '192.0.0.192'],
  // Names.
  ...['LOCALHOST', 'LocalHost', 'ⓛocalhost', 'local\u00adhost', ...Object.keys(zone).filter(isFixed)],
];

describe.each(internalHosts)('%j', (host) => {
  test('is refused at creation and at connect', async () => {
    const url = `http://${host}:${port}/hook`;
    expect(checkUrl(url, publicOnly)).toMatchObject({ ok: false });
    await expectRefused(url, publicOnly);
    expect(visits).toBe(0);
  });
});

describe.each(Object.keys(zone).filter((name) => !isFixed(name)))('%j, a name', (host) => {
  test('is accepted at creation and refused at connect', async () => {
    const url = `http://${host}:${port}/hook`;
    expect(checkUrl(url, publicOnly)).toMatchObject({ ok: true });
    await expectRefused(url, publicOnly);
    expect(visits).toBe(0);
  });
});

describe('other tricks with the URL', () => {
  const tricks = [
    (internal: string) => `http:/\\/${internal}/`,
    (internal: string) => `http:${internal}/`,
    (internal: string) => `http:\\\\${internal}\\`,
    (internal: string) => `http:////${internal}/`,
    (internal: string) => ` \thttp://${internal}/\n`,
    (internal: string) => `http://good.example@${internal}/`,
    (internal: string) => `http://good.example:80@${internal}/`,
    (internal: string) => `http://good.example%40@${internal}/`,
    (internal: string) => `http://${internal}#@good.example/`,
    (internal: string) => `http://${internal}?@good.example/`,
    (internal: string) => `http://${internal}\\@good.example/`,
    (internal: string) => `ht\ntp://${internal}/`,
  ];
  test.each(tricks)('%s', async (trick) => {
    const url = trick(`127.0.0.1:${port}`);
    expect(checkUrl(url, publicOnly)).toMatchObject({ ok: false });
    await expectRefused(url, publicOnly);
    expect(visits).toBe(0);
  });
});

test('link-local and metadata addresses are refused even if the policy allows everything', async () => {
  const hosts = [
    '169.254.169.254',
    '169.254.0.1',
    '2852039166',
    '[fe80::1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    'metadata.google.internal',
    'metadata.attacker.example',
  ];
  for (const host of hosts) {
    const url = `http://${host}/latest/meta-data/`;
    expect([url, checkUrl(url, widest)]).toMatchObject([url, { ok: host === 'metadata.attacker.example' }]);
    await expectRefused(url, widest);
  }
});

test('a name with one internal address among allowed ones is refused', async () => {
  // An allowed local address replaces the public one, so a hole in the guard sends nothing out.
  const policy = { ...publicOnly, allowedCidrs: ['127.0.0.2/32'] };
  for (const mixed of [
    ['127.0.0.2', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.2'],
    ['127.0.0.2', '::1'],
  ]) {
    await expectRefused(`http://mixed.attacker.example:${port}/`, policy, mixed);
  }
  expect(visits).toBe(0);
});

test('a name rebound to an internal address before the second connect is refused', async () => {
  const policy = { ...publicOnly, allowedCidrs: ['127.0.0.2/32'] };
  const agent = createGuardedAgent(policy);
  const origin = `http://rebind.attacker.example:${port}`;
  const visit = (addresses: string[]) => {
    const request: GuardedRequest = { origin, path: '/', method: 'GET', addresses };
    return agent.request(request);
  };
  // Nothing listens there, so the next request needs a new connection.
  await expect(visit(['127.0.0.2'])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  await expect(visit(['127.0.0.1'])).rejects.toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  expect(visits).toBe(0);
  await agent.destroy();
});

test('a policy that allows the internal server reaches it', async () => {
  const agent = createGuardedAgent(sandbox);
  for (const host of ['127.0.0.1', '0x7f.1', 'localtest.me', '[::ffff:127.0.0.1]']) {
    const { origin } = new URL(`http://${host}:${port}/`);
    const addresses = zone[host] ?? [];
    const request: GuardedRequest = { origin, path: '/', method: 'GET', addresses };
    const response = await agent.request(request);
    expect(await response.body.text()).toBe('secret');
  }
  expect(visits).toBe(4);
  await agent.destroy();
});

test.each(['10.0.0.0/08', '::ffff:10.0.0.0/8', 'fe80::1%eth0/64', '10.0.0.0/33'])(
  'an invalid network in the settings prevents the start: %s',
  (cidr) => {
    expect(() => readConfig({ SIMPLANE_WEBHOOK_ALLOW_CIDRS: `10.1.0.0/16,${cidr}` })).toThrow(
      /^SIMPLANE_WEBHOOK_ALLOW_CIDRS takes `none`, or networks/,
    );
  },
);

/** Calls the client directly, as if the URL had been stored without a check. */
async function expectRefused(url: string, policy: AddressPolicy, resolved?: string[]): Promise<void> {
  const agent = createGuardedAgent(policy, { connectTimeoutMs: 2_000 });
  const { origin, hostname } = new URL(url);
  const addresses = resolved ?? zone[hostname] ?? [];
  const request: GuardedRequest = {
    ...{ origin, path: '/', method: 'POST', body: '{}', addresses },
  };
  await expect(agent.request(request)).rejects.toMatchObject({
    name: 'AddressRefused',
    code: 'ERR_ADDRESS_REFUSED',
  });
  await agent.destroy();
}
