import type { Static } from 'typebox';
import { exampleId, exampleTime } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import {
  nullableInteger,
  nullableObject,
  nullableString,
  nullableUnixSeconds,
  unixSeconds,
} from '../schema.ts';
import { Type } from '../type.ts';

export const Network = Type.Object(
  {
    object: Type.Literal('network'),
    kind: Type.Enum(['smdp', 'core', 'mock'], {
      description: 'An SM-DP+, the core network that gets commands, or the sandbox’s mock.',
    }),
    host: nullableString({ description: 'Host and port; null for the mock.' }),
    reachable: Type.Unsafe<boolean | null>({
      type: ['boolean', 'null'],
      description: 'Whether every process that calls it reached it last time; null if none has tried yet.',
    }),
    unreachable_from: Type.Array(Type.String({ pattern: idPattern(idPrefixes.process) }), {
      description: 'Ids of the processes that did not reach it.',
    }),
    paused: Type.Boolean({
      description:
        'Whether a process makes no calls for now, because a gateway reported several times that the system is down.',
    }),
    latency_ms: nullableInteger({
      description:
        'How long the last response or connection took, on the slowest process; null if there was none.',
    }),
    checked_at: nullableUnixSeconds('When it was last called or connected to.'),
    last_error: nullableObject(
      {
        message: Type.String({ description: 'What went wrong, and what to check.' }),
        at: unixSeconds('When it happened.'),
      },
      { description: 'The last error of any process; null if there was none since the processes started.' },
    ),
    certificate_ends_at: nullableUnixSeconds('When the first of its certificates expires.'),
    certificates: Type.Array(
      Type.Object({
        name: Type.String({
          description: '`peer` for the system’s own certificate, or the setting that names our file.',
        }),
        ends_at: unixSeconds('When the certificate expires.'),
      }),
      {
        description:
          'The certificates of the connection, and for an SM-DP+ of the port for its notifications.',
      },
    ),
  },
  {
    title: 'Network',
    description: 'A system that workers call, as they see it.',
    examples: [
      {
        object: 'network',
        kind: 'smdp',
        host: 'smdp.example.com:8443',
        reachable: false,
        unreachable_from: [exampleId(idPrefixes.process)],
        paused: false,
        latency_ms: 42,
        checked_at: exampleTime,
        last_error: {
          message: 'ECONNREFUSED: nothing listens there: it is down, or the port is wrong',
          at: exampleTime,
        },
        certificate_ends_at: exampleTime + 90 * 86_400,
        certificates: [
          { name: 'SIMPLANE_ES2_CERT', ends_at: exampleTime + 90 * 86_400 },
          { name: 'peer', ends_at: exampleTime + 300 * 86_400 },
        ],
      },
    ],
  },
);

export type Network = Static<typeof Network>;

export const listNetworks = operation({
  method: 'GET',
  path: '/v1/operator/networks',
  tag: 'Operator deployment',
  summary: 'List networks',
  description:
    'Returns the systems that the running workers call: each SM-DP+ and core, or the mock of a sandbox. Workers connect to each every 30 seconds, even when there is no work.',
  scope: 'operator',
  query: listQuery({}),
  status: 200,
  response: listOf(Network, 'NetworkList', 'by kind and host'),
  refusals: ['cursor_invalid'],
});
