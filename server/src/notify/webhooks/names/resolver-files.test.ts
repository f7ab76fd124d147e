import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { candidatesFor, parseHosts, parseSearchList, watchedFile } from './resolver-files.ts';

const kubernetes = `nameserver 10.96.0.10
search shop.svc.cluster.local svc.cluster.local cluster.local
options ndots:5 # as kubelet writes it
`;

test('a pod’s search domains come first for a name with few dots, last for a name with many', () => {
  const list = parseSearchList(kubernetes, 'pod');
  expect(list).toEqual({
    domains: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local'],
    ndots: 5,
  });
  expect(candidatesFor('receiver', list)).toEqual([
    'receiver.shop.svc.cluster.local',
    'receiver.svc.cluster.local',
    'receiver.cluster.local',
    'receiver',
  ]);
  expect(candidatesFor('a.b.c.d.e.f', list)[0]).toBe('a.b.c.d.e.f');
  expect(candidatesFor('a.b.c.d.e.f', list)).toHaveLength(4);
});

test('a name with a trailing dot skips the search list', () => {
  expect(candidatesFor('receiver.', parseSearchList(kubernetes, 'pod'))).toEqual(['receiver.']);
});

test('with compose’s `ndots:0` a bare name is queried unchanged first', () => {
  const list = parseSearchList(
    'nameserver 127.0.0.11\nsearch example.com\noptions edns0 trust-ad ndots:0\n',
    'x',
  );
  expect(candidatesFor('receiver', list)).toEqual(['receiver', 'receiver.example.com']);
});

test('the last `search` or `domain` line wins; without either the machine’s domain applies', () => {
  expect(parseSearchList('search a b\ndomain c\n', 'x').domains).toEqual(['c']);
  expect(parseSearchList('domain c\nsearch a b\n', 'x').domains).toEqual(['a', 'b']);
  expect(parseSearchList('domain c d\n', 'x').domains).toEqual(['c']);
  expect(parseSearchList('', 'host.example.org').domains).toEqual(['example.org']);
  expect(parseSearchList('', 'host')).toEqual({ domains: [], ndots: 1 });
});

test('a comment begins with `#` or `;`', () => {
  const list = parseSearchList(
    '; search a\nsearch b ; of the shop\noptions ndots:2 ;ndots:3\n# domain c\n',
    'x',
  );
  expect(list).toEqual({ domains: ['b'], ndots: 2 });
});

test('the number of domains and `ndots` are limited', () => {
  const list = parseSearchList(`search ${'a '.repeat(500)}\noptions ndots:99999\n`, 'x');
  expect([list.domains.length, list.ndots]).toEqual([32, 15]);
});

test('a search domain may end with a dot or be the root, and no name is queried twice', () => {
  const list = { domains: ['.', 'a.', 'a'], ndots: 1 };
  expect(candidatesFor('receiver', list)).toEqual(['receiver', 'receiver.a']);
});

test('a name of the hosts file has each of its addresses once, however it is written', () => {
  const hosts = parseHosts('10.1.0.7 a A.\n10.1.0.7 a\n10.1.0.8 a # b\nc 10.1.0.9\n2001:db8::1 d\n');
  expect([...hosts]).toEqual([
    ['a', ['10.1.0.7', '10.1.0.8']],
    ['d', ['2001:db8::1']],
  ]);
});

test('a file is looked at once a second, closed after it was read, and empty if it cannot be read', () => {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'hosts');
  const parse = vi.fn((text: string) => text);
  let nowMs = 0;
  const file = watchedFile({ path, parse, monotonicMs: () => nowMs });
  expect([file(), parse.mock.calls.length]).toEqual(['', 1]);
  writeFileSync(path, '10.1.0.7 a');
  nowMs = 999;
  expect(file()).toBe('');
  nowMs = 1_000;
  expect(file()).toBe('10.1.0.7 a');
  nowMs = 2_000;
  expect([file(), parse.mock.calls.length]).toEqual(['10.1.0.7 a', 2]);
  const open = () => readdirSync('/dev/fd').length;
  const before = open();
  for (let change = 1; change <= 50; change++) {
    utimesSync(path, change, change);
    nowMs += 1_000;
    file();
  }
  expect(parse).toHaveBeenCalledTimes(52);
  expect(open() - before).toBeLessThan(50);
});
