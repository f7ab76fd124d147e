import { expect, test } from 'vitest';
import { candidatesFor, parseSearchList } from './resolver-files.ts';

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
