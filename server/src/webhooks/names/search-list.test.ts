import { expect, test } from 'vitest';
import { candidatesFor, parseSearchList } from './search-list.ts';

const kubernetes = `nameserver 10.96.0.10
search shop.svc.cluster.local svc.cluster.local cluster.local
options ndots:5 # as kubelet writes it
`;

test('a pod’s search list is applied to names with few dots first, and to names with many last', () => {
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

test('a trailing dot ends the search', () => {
  expect(candidatesFor('receiver.', parseSearchList(kubernetes, 'pod'))).toEqual(['receiver.']);
});

test('compose’s `ndots:0` asks for a bare name as it is first', () => {
  const list = parseSearchList(
    'nameserver 127.0.0.11\nsearch example.com\noptions edns0 trust-ad ndots:0\n',
    'x',
  );
  expect(candidatesFor('receiver', list)).toEqual(['receiver', 'receiver.example.com']);
});

test('the last of `search` and `domain` counts, and without either the machine’s own domain', () => {
  expect(parseSearchList('search a b\ndomain c\n', 'x').domains).toEqual(['c']);
  expect(parseSearchList('domain c\nsearch a b\n', 'x').domains).toEqual(['a', 'b']);
  expect(parseSearchList('', 'host.example.org').domains).toEqual(['example.org']);
  expect(parseSearchList('', 'host')).toEqual({ domains: [], ndots: 1 });
});

test('what a file may ask for is bounded', () => {
  const list = parseSearchList(`search ${'a '.repeat(500)}\noptions ndots:99999\n`, 'x');
  expect([list.domains.length, list.ndots]).toEqual([32, 15]);
});
