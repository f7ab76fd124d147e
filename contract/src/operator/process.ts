import type { Static } from 'typebox';
import { exampleId, exampleTime } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { listOf, listQuery } from '../pagination.ts';
import { nullableInteger, unixSeconds } from '../schema.ts';
import { Type } from '../type.ts';

export const processRoles = ['all', 'api', 'worker'] as const;

export const Process = Type.Object(
  {
    id: Type.String({ pattern: idPattern(idPrefixes.process) }),
    object: Type.Literal('process'),
    role: Type.Enum([...processRoles], {
      description: 'Serves the API (`api`), does background work (`worker`), or both (`all`).',
    }),
    version: Type.String({ description: 'Version of the server.' }),
    host: Type.String({ description: 'Name of the machine or container.' }),
    pid: Type.Integer({ description: 'Process id on that host.' }),
    since: unixSeconds('When the process started.'),
    last_seen_at: unixSeconds('When the process last reported. It reports every 5 seconds.'),
    clock_skew_ms: nullableInteger({
      description:
        'How far the clock of its machine was ahead of PostgreSQL’s, negative if behind. Beyond 30 seconds, the process does no background work. Null if its version does not report it.',
    }),
  },
  {
    title: 'Process',
    description: 'A running process of this deployment. One that is gone leaves the list within 30 seconds.',
    examples: [
      {
        id: exampleId(idPrefixes.process),
        object: 'process',
        role: 'worker',
        version: '0.2.0',
        host: 'simplane-worker-1',
        pid: 1,
        since: exampleTime,
        last_seen_at: exampleTime + 3_600,
        clock_skew_ms: 4,
      },
    ],
  },
);

export type Process = Static<typeof Process>;

export const listProcesses = operation({
  method: 'GET',
  path: '/v1/operator/processes',
  tag: 'Operator deployment',
  summary: 'List processes',
  description:
    'Returns the running processes. One that stops cleanly leaves the list at once; one that was killed, or cannot reach the database, within 30 seconds.',
  scope: 'operator',
  query: listQuery({}),
  status: 200,
  response: listOf(Process, 'ProcessList'),
  refusals: ['cursor_invalid'],
});
