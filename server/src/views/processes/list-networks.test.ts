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
