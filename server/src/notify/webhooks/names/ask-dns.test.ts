import { Resolver } from 'node:dns/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createAskDns } from './ask-dns.ts';

type Records = { address: string; ttl: number }[];

/** What is asked, and how that is answered: with records, or an error of this code. */
const dns = {
  asked: [] as string[],
  resolve4: async (_name: string): Promise<Records> => [],
  resolve6: async (_name: string): Promise<Records> => [],
  resolveNs: async (): Promise<string[]> => [],
};

const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
const found = (count: number) => async () =>
  Array.from({ length: count }, (_, n) => ({ address: `192.0.2.${n}`, ttl: 60 }));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.spyOn(Resolver.prototype, 'resolve4').mockImplementation((async (name: string) => {
    dns.asked.push(name);
    return dns.resolve4(name);
  }) as never);
  vi.spyOn(Resolver.prototype, 'resolve6').mockImplementation(((name: string) =>
    dns.resolve6(name)) as never);
  vi.spyOn(Resolver.prototype, 'resolveNs').mockImplementation(async (name) => {
    dns.asked.push(name);
    return dns.resolveNs();
  });
  dns.asked.length = 0;
  [dns.resolve4, dns.resolve6, dns.resolveNs] = [failing('ENODATA'), failing('ENODATA'), failing('EREFUSED')];
});
afterEach(() => {
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  vi.restoreAllMocks();
  expect(timers).toBe(0);
});

function ask(domains: string[] = []) {
  return createAskDns({ timeoutMs: 5_000, searchList: () => ({ domains, ndots: 2 }) });
}

test.each(['ECONNREFUSED', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS'])(
  'a look-up that fails with %s says nothing about the name, whatever became of the other family',
  async (code) => {
    for (const other of ['ENODATA', 'ETIMEOUT', 'ESERVFAIL']) {
      [dns.resolve4, dns.resolve6] = [failing(other), failing(code)];
      expect(await ask()('a.example'), other).toEqual({ kind: 'unreachable', code });
    }
  },
);

test.each(['ENOTFOUND', 'ENODATA', 'EBADNAME'])(
  'a name without an address (%s) is not found',
  async (code) => {
    dns.resolve4 = failing(code);
    expect(await ask()('a.example')).toEqual({ kind: 'not_found' });
  },
);

test('a name may have 64 addresses, of both families together', async () => {
  [dns.resolve4, dns.resolve6] = [found(60), found(4)];
  expect(await ask()('a.example')).toMatchObject({ kind: 'found', ttlSeconds: 60 });
  dns.resolve6 = found(5);
  expect(await ask()('a.example')).toEqual({ kind: 'failed', code: 'too many addresses' });
});

test('the rest of the search list is not asked once the time is over, or our servers cannot be reached', async () => {
  const names = ['receiver.one.test', 'receiver.two.test', 'receiver'];
  const look = async () => {
    dns.asked.length = 0;
    return [await ask(['one.test', 'two.test'])('receiver'), [...dns.asked]];
  };
  expect(await look()).toEqual([{ kind: 'not_found' }, names]);
  dns.resolve4 = failing('EMFILE');
  expect(await look()).toEqual([{ kind: 'unreachable', code: 'EMFILE' }, names.slice(0, 1)]);
  dns.resolve4 = async () => {
    vi.advanceTimersByTime(5_000); // the answer comes with the end of the time
    return failing('ENOTFOUND')();
  };
  expect(await look()).toEqual([{ kind: 'timeout' }, names.slice(0, 1)]);
});

test('our servers are asked whether they reply at all if none replied meanwhile, each time anew', async () => {
  [dns.resolve4, dns.resolve6] = [failing('ETIMEOUT'), failing('ETIMEOUT')];
  const askDns = ask();
  const look = async (reply: typeof dns.resolveNs) => {
    [dns.resolveNs, dns.asked.length] = [reply, 0];
    vi.advanceTimersByTime(1);
    return [(await askDns('a.example')).kind, [...dns.asked]];
  };
  expect(await look(failing('ETIMEOUT'))).toEqual(['unreachable', ['a.example', '.']]);
  expect(await look(async () => ['a.root-servers.net'])).toEqual(['timeout', ['a.example', '.']]);
  expect(await look(failing('ECANCELLED'))).toEqual(['unreachable', ['a.example', '.']]);
  dns.resolve6 = failing('ESERVFAIL');
  expect(await look(failing('ETIMEOUT'))).toEqual(['timeout', ['a.example']]);
});

test('a reply about another name proves that our servers reply', async () => {
  let timeOut = () => {};
  dns.resolve4 = (name) =>
    name === 'b.example'
      ? found(1)()
      : new Promise((_, reject) => {
          timeOut = () => reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' }));
        });
  dns.resolve6 = failing('ETIMEOUT');
  const askDns = ask();
  const waiting = askDns('a.example');
  vi.advanceTimersByTime(1);
  expect(await askDns('b.example')).toMatchObject({ kind: 'found' });
  timeOut();
  expect([await waiting, dns.asked]).toEqual([{ kind: 'timeout' }, ['a.example', 'b.example']]);
});
