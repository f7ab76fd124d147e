import type { Static } from 'typebox';
import { exampleEvent } from './event-types.ts';
import { exampleId, exampleTime } from './example-values.ts';
import { executionStatuses } from './execution.ts';
import { iccidParams } from './iccid.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { operation } from './operation.ts';
import { listOf, listQuery } from './pagination.ts';
import { nullableUnixSeconds, unixSeconds } from './schema.ts';
import { Type } from './type.ts';

export const timelineKinds = [
  'order',
  'command',
  'state',
  'profile',
  'attach',
  'bundle',
  'usage',
  'other',
] as const;

export type TimelineKind = (typeof timelineKinds)[number];

const TimelineStep = Type.Object(
  {
    name: Type.Enum(['accepted', 'running', 'waiting', 'succeeded', 'failed']),
    at: nullableUnixSeconds(
      'When it happened; for `waiting`, the earliest time of the next attempt. Null if it is not known.',
    ),
    attempts: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'For `running`: number of attempts made so far with the network.',
      }),
    ),
    error_code: Type.Optional(
      Type.String({ description: 'For `failed`: the reason, as in the execution’s `error.code`.' }),
    ),
    message: Type.Optional(
      Type.String({ description: 'For `waiting` and `failed`: the cause and what to do about it.' }),
    ),
  },
  {
    title: 'TimelineStep',
    description: 'One step in the progress of an order or command.',
    examples: [{ name: 'accepted', at: exampleTime }],
  },
);

export type TimelineStep = Static<typeof TimelineStep>;

export const TimelineEntry = Type.Object(
  {
    id: Type.String({ description: 'Id of the event or execution.' }),
    object: Type.Literal('timeline_entry'),
    kind: Type.Enum([...timelineKinds], {
      description:
        '`order` and `command` (suspend, resume, terminate, top-up) are executions. The others are events: `state` of the eSIM, `profile` on a device, `attach` in another country, `bundle`, `usage` thresholds, and `other` for test events.',
    }),
    type: Type.String({ description: 'Type of the event or execution.' }),
    title: Type.String({ description: 'What happened, in one sentence.' }),
    created: unixSeconds('When it happened, or when the request was accepted.'),
    event_id: Type.Optional(
      Type.String({ pattern: idPattern(idPrefixes.event), description: 'Present if it is an event.' }),
    ),
    execution_id: Type.Optional(
      Type.String({
        pattern: idPattern(idPrefixes.execution),
        description: 'The execution, or the one that caused the event.',
      }),
    ),
    request_id: Type.Optional(
      Type.String({
        pattern: idPattern(idPrefixes.request),
        description:
          'The request that ordered the execution. Absent for events, and if it is not known: orders that were accepted together have the first one’s only.',
      }),
    ),
    status: Type.Optional(
      Type.Enum([...executionStatuses], { description: 'Status of the execution. Absent for events.' }),
    ),
    steps: Type.Optional(
      Type.Array(TimelineStep, { description: 'Steps of the execution, oldest first. Absent for events.' }),
    ),
    deliveries: Type.Optional(
      Type.Object(
        {
          pending: Type.Integer({ minimum: 0 }),
          succeeded: Type.Integer({ minimum: 0 }),
          failed: Type.Integer({ minimum: 0 }),
        },
        { description: 'How many deliveries of the event are in each status. Absent for executions.' },
      ),
    ),
    data: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        additionalProperties: true,
        description: '`data` of the event. Absent for executions.',
      }),
    ),
  },
  {
    title: 'TimelineEntry',
    description: 'Something that happened to an eSIM: an event, or an order or command with its steps.',
    examples: [
      {
        id: exampleId(idPrefixes.event),
        object: 'timeline_entry',
        kind: 'state',
        type: 'esim.provisioned',
        title: 'The eSIM is ready to install.',
        created: exampleTime + 2,
        event_id: exampleId(idPrefixes.event),
        execution_id: exampleId(idPrefixes.execution),
        deliveries: { pending: 0, succeeded: 1, failed: 0 },
        data: exampleEvent('esim.provisioned').data,
      },
      {
        id: exampleId(idPrefixes.execution),
        object: 'timeline_entry',
        kind: 'order',
        type: 'esim.provision',
        title: 'The eSIM was ordered.',
        created: exampleTime,
        execution_id: exampleId(idPrefixes.execution),
        request_id: exampleId(idPrefixes.request),
        status: 'succeeded',
        steps: [
          { name: 'accepted', at: exampleTime },
          { name: 'running', at: null, attempts: 1 },
          { name: 'succeeded', at: exampleTime + 2 },
        ],
      },
    ],
  },
);

export type TimelineEntry = Static<typeof TimelineEntry>;

export const listTimeline = operation({
  method: 'GET',
  path: '/v1/esims/{iccid}/timeline',
  tag: 'eSIMs',
  summary: 'List what happened to an eSIM',
  description:
    'Returns the order, the commands and the events of an eSIM in one list, with the steps of each execution and the delivery counts of ' +
    'each event. Events older than the retention period are not included.',
  scope: 'read',
  params: iccidParams,
  query: listQuery({}),
  status: 200,
  response: listOf(TimelineEntry, 'TimelineEntryList'),
  refusals: ['resource_missing', 'cursor_invalid'],
});
