import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAskDns } from '../../src/webhooks/names/ask-dns.ts';
import type { SearchList } from '../../src/webhooks/names/search-list.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';

let server: DnsServer;
beforeEach(async () => {
  server = await startDnsServer();
});
afterEach(() => server.stop());

const noSearch: SearchList = { domains: [], ndots: 1 };

function asker({ limitMs = 5_000, searchList = noSearch, servers = [server.address] } = {}) {
  return createAskDns({ limitMs, servers, searchList: () => searchList });
}

test('both families are asked for; the shortest TTL counts', async () => {
  server.answer(() => ({ a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'], ttl: 33 }));
  expect(await asker()('a.example')).toEqual({
    kind: 'found',
    addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    ttlSeconds: 33,
  });
  expect(server.questions.toSorted()).toEqual(['A a.example', 'AAAA a.example']);
});

test('one family is enough', async () => {
  server.answer(() => ({ aaaa: ['2001:db8:0:0:0:0:0:1'] }));
  expect(await asker()('a.example')).toMatchObject({ kind: 'found', addresses: ['2001:db8::1'] });
});

test('the search list is asked in order, and a name with enough dots as it is first', async () => {
  const searchList = { domains: ['one.test', 'two.test'], ndots: 2 };
  server.answer((name) => (name === 'receiver.two.test' ? { a: ['192.0.2.1'] } : 'nxdomain'));
  expect(await asker({ searchList })('receiver')).toMatchObject({ kind: 'found' });
  expect(server.questions.filter((one) => one.startsWith('A '))).toEqual([
    'A receiver.one.test',
    'A receiver.two.test',
  ]);
  server.questions.length = 0;
  await asker({ searchList })('a.b.example');
  expect(server.questions[0]).toMatch(/ a\.b\.example$/);
});

describe('a name', () => {
  test('that does not exist, or has no address, is absent', async () => {
    expect(await asker()('a.example')).toEqual({ kind: 'absent' });
    server.answer(() => ({}));
    expect(await asker()('a.example')).toEqual({ kind: 'absent' });
    expect(await asker()(`${'a'.repeat(64)}.example`)).toEqual({ kind: 'absent' });
  });

  test('whose servers fail has failed', async () => {
    server.answer(() => 'servfail');
    expect(await asker()('a.example')).toEqual({ kind: 'failed', code: 'ESERVFAIL' });
  });

  test('with hundreds of addresses has failed', async () => {
    server.answer(() => ({ a: Array.from({ length: 65 }, (_, i) => `192.0.2.${i}`) }));
    expect(await asker()('a.example')).toMatchObject({ kind: 'failed' });
  });

  test('whose servers hang is silent, while our own answer', async () => {
    server.answer((name) => (name === 'hangs.example' ? 'hang' : 'refused'));
    expect(await asker({ limitMs: 500 })('hangs.example')).toEqual({ kind: 'silent' });
    // No other name was answered meanwhile, so the servers themselves were asked whether they are there.
    expect(server.questions.at(-1)).toBe('NS ');
  });
});

describe('when our own DNS servers', () => {
  test('say nothing to anyone, no name is at fault', async () => {
    server.answer(() => 'hang');
    expect(await asker({ limitMs: 500 })('a.example')).toEqual({ kind: 'ours', code: 'ETIMEOUT' });
  });

  test('are not there, no name is at fault', async () => {
    const gone = await startDnsServer();
    await gone.stop();
    expect(await asker({ servers: [gone.address] })('a.example')).toEqual({
      kind: 'ours',
      code: 'ECONNREFUSED',
    });
  });
});
