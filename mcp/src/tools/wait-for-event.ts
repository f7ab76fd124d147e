import { setTimeout } from 'node:timers/promises';
import { Event, operations } from '@simplane/contract';
import type { WebhookEvent } from '@simplane/sdk';
import { InvalidArgument } from '../invalid-argument.ts';
import { inputSchema, type ObjectSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly, type ToolContext } from '../tool.ts';
import { parseWaitSeconds, waitSecondsSchema, withEndOfWait } from '../wait-seconds.ts';

const operation = operations.readEventFeed;
const { after, type } = operation.query.properties;
const waitBounds = { minimum: 1, default: 20 };

// Below the time that a client gives one request, so a lost connection does not use up the wait.
const maxRequestSeconds = 10;
const pageSize = 100;
// A server that shuts down answers at once: the next request should reach another one.
const pauseMs = 500;

type Args = { type?: unknown; iccid?: unknown; wait_seconds?: unknown; after?: unknown };
type Wanted = { type: string; iccid: string | undefined; after: string; waitMs: number };
type Result = { object: 'event_wait'; event: WebhookEvent | null; cursor: string; note?: string };

export const waitForEvent = defineTool({
  name: 'wait_for_event',
  title: 'Wait for an event',
  description:
    'Waits until an event of this type happens and returns it with a cursor; event is null if none came in time. To continue ' +
    'without missing an event, call again with after set to that cursor. It begins now; list_events shows earlier events. Before ' +
    'you cause an event yourself, call with wait_seconds 1 to get a cursor, and afterwards pass it as after.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema(
    {
      properties: {
        type: {
          ...type.items,
          description: 'Type of the event, such as `bundle.depleted`, or a family such as `esim.*`.',
        },
        iccid: { type: 'string', description: 'Only events of this eSIM.' },
      },
      required: ['type'],
    },
    {
      wait_seconds: waitSecondsSchema(waitBounds, 'the event'),
      after: {
        ...after,
        description: 'The cursor of an earlier call, to continue there. Otherwise begins now.',
      },
    },
  ),
  output: outputSchema({ response: resultSchema() }),
  run: (context, args: Args) => {
    const wanted = {
      type: textArgument(
        'type',
        args.type,
        'an event type such as esim.provisioned, or a family such as esim.*',
      ),
      iccid: args.iccid === undefined ? undefined : textArgument('iccid', args.iccid, 'the ICCID of an eSIM'),
      after:
        args.after === undefined ? 'now' : textArgument('after', args.after, 'a cursor of an earlier call'),
      waitMs: parseWaitSeconds(args.wait_seconds, waitBounds) * 1_000,
    };
    return withEndOfWait(context, (ended) => wait(context, wanted, ended));
  },
});

async function wait(context: ToolContext, wanted: Wanted, signal: AbortSignal): Promise<Result> {
  const { simplane, stopping, report } = context;
  const { type, iccid, waitMs } = wanted;
  const endMs = performance.now() + waitMs;
  const isWanted = ({ data }: WebhookEvent) =>
    iccid === undefined || (data as { iccid?: unknown }).iccid === iccid;
  let cursor = wanted.after;
  let limit = pageSize;
  try {
    // A cursor first: a second read from `now` would miss what came since the first.
    if (cursor === 'now')
      cursor = (await simplane.events.feed({ after: cursor, limit: 1 }, { signal })).cursor;
    for (let reads = 1; ; reads++) {
      const leftMs = endMs - performance.now();
      const seconds = Math.min(maxRequestSeconds, Math.max(0, Math.ceil(leftMs / 1_000)));
      const page = await simplane.events.feed({ after: cursor, type, limit, wait: seconds }, { signal });
      const index = page.data.findIndex(isWanted);
      const event = page.data[index];
      if (event && index === page.data.length - 1)
        return { object: 'event_wait', event, cursor: page.cursor };
      // The cursor is that of the last event, so a page with more is read again up to the wanted one.
      limit = event ? index + 1 : pageSize;
      if (event) continue;
      cursor = page.cursor;
      if (performance.now() >= endMs || stopping?.aborted) return nothingYet(cursor);
      report(reads, 'no such event yet');
      const isEarly = page.data.length === 0 && endMs - performance.now() > leftMs - 1_000;
      if (isEarly && page.caught_up) await setTimeout(pauseMs, undefined, { signal });
    }
  } catch (error) {
    if (stopping?.aborted && cursor !== 'now') return nothingYet(cursor);
    throw error;
  }
}

function nothingYet(cursor: string): Result {
  const note =
    'No such event came. To continue waiting without missing an event, call wait_for_event again with after set to cursor.';
  return { object: 'event_wait', event: null, cursor, note };
}

/** Checked here: an argument that the API would ignore or misread must not look like a wait that found nothing. */
function textArgument(param: string, value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new InvalidArgument(
    param,
    `${param} must be ${what}; got ${value === undefined ? 'nothing' : JSON.stringify(value)}.`,
  );
}

function resultSchema(): ObjectSchema {
  return {
    type: 'object',
    properties: {
      object: { type: 'string', const: 'event_wait' },
      event: { anyOf: [Event, { type: 'null' }], description: 'The event; null if none came in time.' },
      cursor: { type: 'string', description: 'The place after it. Pass it as after to continue there.' },
    },
    required: ['object', 'event', 'cursor'],
  };
}
