import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAskDns } from '../../src/notify/webhooks/names/ask-dns.ts';
import type { SearchList } from '../../src/notify/webhooks/names/resolver-files.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';

let server: DnsServer;
beforeEach(async () => {
  server = await startDnsServer();
});
afterEach(() => server.stop());

const noSearch: SearchList = { domains: [], ndots: 1 };

function asker({ timeoutMs = 5_000, searchList = noSearch, servers = [server.address] } = {}) {
  return createAskDns({ timeoutMs, servers, searchList: () => searchList });
}

test('both families are queried; the shortest TTL counts', async () => {
  server.answer(() => ({ a: ['192.0.2.1', '192.0.2.2'], aaaa: ['2001:db8:0:0:0:0:0:1'], ttl: 33 }));
  expect(await asker()('a.example')).toEqual({
    kind: 'found',
    addresses: ['192.0.2.1', '192.0.2.2', '2001:db8::1'],
    ttlSeconds: 33,
  });
  expect(server.questions.toSorted()).toEqual(['A a.example', 'AAAA a.example']);
});

test('an address is used no longer than the shorter of the two families’ TTLs', async () => {
  server.answer((_, type) =>
    type === 'A' ? { a: ['192.0.2.1'], ttl: 300 } : { aaaa: ['2001:db8:0:0:0:0:0:1'], ttl: 20 },
  );
  expect(await asker()('a.example')).toMatchObject({ kind: 'found', ttlSeconds: 20 });
});

test('one family is enough', async () => {
  server.answer(() => ({ aaaa: ['2001:db8:0:0:0:0:0:1'] }));
  expect(await asker()('a.example')).toMatchObject({ kind: 'found', addresses: ['2001:db8::1'] });
});

test('the search list is queried in order; a name with enough dots is queried unchanged first', async () => {
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
  test('that does not exist or has no address is not found', async () => {
    expect(await asker()('a.example')).toEqual({ kind: 'not_found' });
    server.answer(() => ({}));
    expect(await asker()('a.example')).toEqual({ kind: 'not_found' });
    expect(await asker()(`${'a'.repeat(64)}.example`)).toEqual({ kind: 'not_found' });
  });

  test('whose servers fail is reported as failed', async () => {
    server.answer(() => 'servfail');
    expect(await asker()('a.example')).toEqual({ kind: 'failed', code: 'ESERVFAIL' });
  });

  test('whose servers fail for one entry of the search list is not reported as missing', async () => {
    const searchList = { domains: ['one.test', 'two.test'], ndots: 2 };
    server.answer((name) => (name === 'receiver.one.test' ? 'servfail' : 'nxdomain'));
    expect(await asker({ searchList })('receiver')).toEqual({ kind: 'failed', code: 'ESERVFAIL' });
  });

  test('with more than 64 addresses is reported as failed', async () => {
    server.answer(() => ({ a: Array.from({ length: 65 }, (_, i) => `192.0.2.${i}`) }));
    expect(await asker()('a.example')).toMatchObject({ kind: 'failed' });
  });

  test('whose servers hang times out while our own servers answer', async () => {
    server.answer((name) => (name === 'hangs.example' ? 'hang' : 'refused'));
    const startedMs = performance.now();
    expect(await asker({ timeoutMs: 500 })('hangs.example')).toEqual({ kind: 'timeout' });
    // By itself, the resolver would try again for longer than this.
    expect(performance.now() - startedMs).toBeLessThan(6_000);
    // No other name got a reply, so our servers were probed.
    expect(server.questions.at(-1)).toBe('NS ');
  });

  test('times out if the servers hang for one family, whatever they say about the other', async () => {
    for (const hanging of ['A', 'AAAA']) {
      server.answer((_, type) => (type === hanging ? 'hang' : 'servfail'));
      expect(await asker({ timeoutMs: 500 })('a.example'), hanging).toEqual({ kind: 'timeout' });
    }
  });
});

describe('when our DNS servers', () => {
  test('answer no query, the name is not blamed', async () => {
    server.answer(() => 'hang');
    expect(await asker({ timeoutMs: 500 })('a.example')).toEqual({ kind: 'unreachable', code: 'ETIMEOUT' });
  });

  test('answer no query, names that time out together share one probe', async () => {
    server.answer(() => 'hang');
    const ask = asker({ timeoutMs: 500 });
    const names = Array.from({ length: 10 }, (_, n) => `${n}.example`);
    const answers = await Promise.all(names.map(ask));
    expect(answers).toEqual(Array(10).fill({ kind: 'unreachable', code: 'ETIMEOUT' }));
    // A query is repeated if its answer is late, so one probe may be a few questions.
    expect(server.questions.filter((one) => one === 'NS ').length).toBeLessThan(10);
  });

  test('answer no query, a malformed name proves nothing about them: it is never sent', async () => {
    server.answer(() => 'hang');
    const ask = asker({ timeoutMs: 500 });
    const waiting = ask('a.example');
    expect(await ask(`${'a'.repeat(64)}.example`)).toEqual({ kind: 'not_found' });
    expect(await waiting).toEqual({ kind: 'unreachable', code: 'ETIMEOUT' });
  });

  test('refuse connections, the name is not blamed', async () => {
    const gone = await startDnsServer();
    await gone.stop();
    expect(await asker({ servers: [gone.address] })('a.example')).toEqual({
      kind: 'unreachable',
      code: 'ECONNREFUSED',
    });
  });
});
