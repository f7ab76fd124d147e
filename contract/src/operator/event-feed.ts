import { Event } from '../event.ts';
import { EventFeed, exampleCursor, readEventFeed } from '../event-feed.ts';
import { exampleEvent } from '../event-types.ts';
import { exampleId } from '../example-values.ts';
import { idPattern, idPrefixes } from '../ids.ts';
import { operation } from '../operation.ts';
import { nullableString } from '../schema.ts';
import { Type } from '../type.ts';

const OperatorEvent = Type.Object(
  {
    account_id: nullableString({
      pattern: idPattern(idPrefixes.account),
      description:
        'The account it happened in; null if it is about the deployment, such as one of its webhook endpoints.',
    }),
    ...Event.properties,
  },
  {
    title: 'OperatorEvent',
    description:
      'An event of any account, with the account in front. The rest is the account’s event, byte for byte.',
    examples: [{ account_id: exampleId(idPrefixes.account), ...exampleEvent('esim.terminated') }],
  },
);

const OperatorEventFeed = Type.Object(
  {
    ...EventFeed.properties,
    data: Type.Array(OperatorEvent, { description: 'Events after `after`, oldest first.' }),
  },
  {
    title: 'OperatorEventFeed',
    description:
      'A part of the events of all accounts in their final order. Nothing is ever inserted before a cursor.',
    examples: [
      {
        object: 'event_feed',
        data: [{ account_id: exampleId(idPrefixes.account), ...exampleEvent('esim.terminated') }],
        cursor: exampleCursor,
        caught_up: true,
      },
    ],
  },
);

export const readOperatorEventFeed = operation({
  ...readEventFeed,
  path: '/v1/operator/events/feed',
  tag: 'Operator events',
  summary: 'Follow the events of all accounts',
  description:
    'Returns the events of all accounts oldest first, each once and without gaps, with `account_id` in front. It has an order and cursors of its own; those of an account’s feed are refused. With `wait`, the response waits for an event if there is none yet. With `Accept: text/event-stream`, the events arrive as a stream of server-sent events whose `id` is the cursor; `Last-Event-ID` resumes it.',
  scope: 'operator',
  response: OperatorEventFeed,
});
