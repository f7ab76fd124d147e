import type { Static } from 'typebox';
import { exampleId, exampleTime } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { Overview } from '../overview.ts';
import { unixSeconds } from '../schema.ts';
import { Type } from '../type.ts';
import { askedCells, cellLabel, exampleCells, ofOwnCell } from './cells.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const rate = (what: string) =>
  Type.Object(
    {
      last_minute: count('In the last minute.'),
      last_hour: count('In the last hour.'),
    },
    { description: what },
  );

const backlog = (what: string, oldest: string) =>
  Type.Object(
    {
      count: count('How many there are. At most 10,000 are counted.'),
      oldest_due_seconds: count(oldest),
    },
    { description: what },
  );

const { funnel, failures, hours } = Overview.properties;
const [{ from, ...example }] = (Overview as unknown as { examples: [Static<typeof Overview>] }).examples;

export const OperatorOverview = Type.Object(
  {
    object: Type.Literal('operator_overview'),
    as_of: unixSeconds('When this was read.'),
    rates: Type.Object(
      {
        requests: rate('HTTP requests answered.'),
        executions_succeeded: rate('Executions that succeeded.'),
        executions_failed: rate('Executions that failed.'),
        attempts_succeeded: rate('Attempts to deliver an event that succeeded.'),
        attempts_failed: rate('Attempts to deliver an event that failed.'),
      },
      { description: 'What the running processes did. A process counts from its start.' },
    ),
    backlogs: Type.Object({
      executions: backlog(
        'Executions that have not ended.',
        'How long the oldest due execution has waited for a worker; 0 if none is due.',
      ),
      deliveries: backlog(
        'Deliveries that have not ended, including those that wait for their next attempt.',
        'How long the oldest due delivery has waited; 0 if none is due. Failing endpoints are not included; `endpoint_health` shows them.',
      ),
    }),
    clocks_off: Type.Array(
      Type.Object({
        process_id: Type.String({ pattern: idPattern(idPrefixes.process) }),
        host: Type.String({ description: 'Name of its machine or container.' }),
        cell: Type.Optional(cellLabel('With several cells: the one of the process')),
        clock_skew_ms: Type.Integer({
          description:
            'How far the clock of the machine is ahead of PostgreSQL’s, negative if behind. Beyond 30 seconds, the process does no background work.',
        }),
      }),
      {
        description:
          'Running processes whose clock is more than 2 seconds off PostgreSQL’s; empty if there is none.',
      },
    ),
    from: unixSeconds('Start of the last day, a full hour. Funnel, failures and hours begin here.'),
    funnel,
    failed_count: count('Orders of the last day that failed.'),
    failures,
    hours,
    cells: Type.Optional(askedCells),
  },
  {
    title: 'OperatorOverview',
    description: 'How the whole deployment is doing.',
    examples: [
      {
        object: 'operator_overview',
        as_of: exampleTime,
        rates: {
          requests: { last_minute: 840, last_hour: 51_200 },
          executions_succeeded: { last_minute: 12, last_hour: 718 },
          executions_failed: { last_minute: 0, last_hour: 2 },
          attempts_succeeded: { last_minute: 60, last_hour: 3_590 },
          attempts_failed: { last_minute: 1, last_hour: 44 },
        },
        backlogs: {
          executions: { count: 3, oldest_due_seconds: 0 },
          deliveries: { count: 21, oldest_due_seconds: 1 },
        },
        clocks_off: [
          {
            process_id: exampleId(idPrefixes.process),
            host: 'simplane-worker-1',
            cell: 'eu',
            clock_skew_ms: -2_400,
          },
        ],
        from,
        funnel: example.funnel,
        failed_count: example.failed_count,
        failures: example.failures,
        hours: example.hours,
        cells: exampleCells,
      },
    ],
  },
);

export type OperatorOverview = Static<typeof OperatorOverview>;

export const getOperatorOverview = operation({
  method: 'GET',
  path: '/v1/operator/overview',
  tag: 'Operator deployment',
  summary: 'Get an overview of the deployment',
  description:
    'Returns the current rates, the backlogs and their age, and the progress of the orders of the last day, across all accounts. Workers count orders in the background, with a delay of a second or two. With several cells, counts and rates are the sums of those that answered, ages the highest; `median_ms` and `p95_ms` are those of the slowest cell, which those of all orders never exceed.',
  scope: 'operator',
  query: Type.Object({ cells: ofOwnCell }, { additionalProperties: false }),
  status: 200,
  response: OperatorOverview,
  refusals: [],
});
