import { expect, test } from 'vitest';
import type { Database } from '../../platform/db/database.ts';
import { listNetworks } from './list-networks.ts';

test('of a certificate that processes see differently, the earliest end is shown', async () => {
  const reportOf = (own: string, peer: string) => ({
    certificates: [{ setting: 'SIMPLANE_ES2_CERT', ends_at: own }],
    networks: [
      {
        ...{ kind: 'smdp', host: 'smdp.example.com', reachable: true, latency_ms: 1, tried_ms_ago: 1 },
        ...{ last_error: null, paused: false, peer_ends_at: peer },
      },
    ],
  });
  const reports = [
    reportOf('2030-01-01T00:00:00Z', '2031-06-01T00:00:00Z'),
    reportOf('2029-01-01T00:00:00Z', '2032-06-01T00:00:00Z'),
  ];
  const rows = reports.map((report, n) => {
    return { id: `00000000-0000-7000-8000-00000000000${n}`, seen_at: new Date(0), report };
  });
  const db = { query: async () => rows } as unknown as Database;
  const { data } = await listNetworks({ db }, { params: {}, query: {}, body: {} });
  const seconds = (text: string) => Date.parse(text) / 1_000;
  expect(data).toMatchObject([
    {
      certificate_ends_at: seconds('2029-01-01T00:00:00Z'),
      certificates: [
        { name: 'SIMPLANE_ES2_CERT', ends_at: seconds('2029-01-01T00:00:00Z') },
        { name: 'peer', ends_at: seconds('2031-06-01T00:00:00Z') },
      ],
    },
  ]);
});

test('a process whose release reports no networks hides none that others report', async () => {
  const network = {
    ...{ kind: 'core', host: 'core.example.com', reachable: true, latency_ms: 1, tried_ms_ago: 1 },
    ...{ last_error: null, paused: false, peer_ends_at: null },
  };
  const rows = [{}, { networks: [network] }].map((report, n) => {
    return { id: `00000000-0000-7000-8000-00000000000${n}`, seen_at: new Date(0), report };
  });
  const db = { query: async () => rows } as unknown as Database;
  const { data } = await listNetworks({ db }, { params: {}, query: {}, body: {} });
  expect(data.map(({ host }) => host)).toEqual(['core.example.com']);
});

test('of what processes see differently, the slowest answer, the last check and the newest error are shown', async () => {
  const seenAtMs = 1_000_000;
  const viewOf = (own: object) => ({
    ...{ kind: 'core', host: 'b.example.com', reachable: true, latency_ms: null, tried_ms_ago: null },
    ...{ last_error: null, paused: false, peer_ends_at: null, ...own },
  });
  const error = (message: string, ago: number) => ({ last_error: { message, ms_ago: ago } });
  const reports = [
    [
      viewOf({ latency_ms: 5, tried_ms_ago: 9_000, ...error('older', 8_000) }),
      viewOf({ host: 'a.example.com', reachable: null }),
    ],
    [viewOf({ latency_ms: 9, tried_ms_ago: 4_000, paused: true, ...error('newest', 2_000) })],
    [
      viewOf({ reachable: null }),
      viewOf({ latency_ms: 7, tried_ms_ago: 6_000, reachable: false, ...error('old', 7_000) }),
    ],
  ];
  const certificates = [{ setting: 'SIMPLANE_ES2_CERT', ends_at: '2030-01-01T00:00:00Z' }];
  const rows = reports.map((networks, n) => {
    const id = `00000000-0000-7000-8000-00000000000${n}`;
    return { id, seen_at: new Date(seenAtMs), report: { networks, certificates } };
  });
  const db = { query: async () => rows } as unknown as Database;
  const { data } = await listNetworks({ db }, { params: {}, query: {}, body: {} });
  expect(data).toMatchObject([
    {
      ...{ host: 'a.example.com', paused: false, reachable: null, unreachable_from: [] },
      ...{ latency_ms: null, checked_at: null, last_error: null },
    },
    {
      ...{ host: 'b.example.com', paused: true, reachable: false, latency_ms: 9, checked_at: 996 },
      ...{ last_error: { message: 'newest', at: 998 }, certificate_ends_at: null, certificates: [] },
    },
  ]);
  expect(data[1]?.unreachable_from).toHaveLength(1);
});

test('the page after a network is empty if those that followed are gone', async () => {
  const view = {
    ...{ kind: 'core', reachable: true, latency_ms: 1, tried_ms_ago: 1 },
    ...{ last_error: null, paused: false, peer_ends_at: null },
  };
  let hosts: (string | null)[] = [null, 'a.example.com'];
  const rowOf = (host: string | null) => ({
    ...{ id: '00000000-0000-7000-8000-000000000000', seen_at: new Date(0) },
    report: { networks: [{ ...view, host }] },
  });
  const db = { query: async () => hosts.map(rowOf) } as unknown as Database;
  const read = (query: object) => listNetworks({ db }, { params: {}, query, body: {} });
  const first = await read({ limit: 1 });
  expect(first).toMatchObject({ data: [{ host: null }], has_more: true });
  hosts = [null];
  const after = (first as { next_cursor?: string }).next_cursor;
  expect(await read({ limit: 1, starting_after: after })).toMatchObject({ data: [], has_more: false });
});
