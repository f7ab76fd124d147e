import { operations } from '@simplane/contract';
import type { Delivery, List, Simplane } from '@simplane/sdk';
import { readBoundedPage } from '../bound-answer.ts';
import { InvalidArgument, idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const byEvent = operations.listEventDeliveries;
const byEndpoint = operations.listEndpointDeliveries;

type Query = { limit?: number; starting_after?: string; status?: Delivery['status'] };
type Args = Query & { event_id?: unknown; webhook_endpoint_id?: unknown };

export const listDeliveries = defineTool({
  name: 'list_deliveries',
  title: 'List deliveries',
  description:
    'Returns the deliveries of one event, or those to one webhook endpoint, newest first, with every attempt and the ' +
    'receiver’s response. A delivery with status succeeded was accepted by the receiver: this proves that an event arrived. ' +
    'pending means that another attempt follows at next_attempt_at. Pass either event_id or webhook_endpoint_id.',
  scope: byEvent.scope,
  annotations: readOnly,
  input: inputSchema({
    properties: {
      event_id: byEvent.params.properties.id,
      webhook_endpoint_id: byEndpoint.params.properties.id,
      status: {
        ...byEndpoint.query.properties.status,
        description: 'Only deliveries in this status. Needs webhook_endpoint_id.',
      },
      limit: byEndpoint.query.properties.limit,
      starting_after: byEndpoint.query.properties.starting_after,
    },
  }),
  output: outputSchema(byEndpoint),
  argumentNames: ({ event_id }: Args) => ({
    id: event_id === undefined ? 'webhook_endpoint_id' : 'event_id',
  }),
  run: async ({ simplane, signal }, args: Args) =>
    readBoundedPage('list_deliveries', readerOf(simplane, args, signal)),
});

function readerOf(
  simplane: Simplane,
  { event_id, webhook_endpoint_id, ...query }: Args,
  signal: AbortSignal,
): (limit?: number) => List<Delivery> {
  if ((event_id === undefined) === (webhook_endpoint_id === undefined)) {
    throw new InvalidArgument('event_id', 'Pass either event_id or webhook_endpoint_id.');
  }
  const sized = (limit: number | undefined) => ({ ...query, ...(limit !== undefined && { limit }) });
  if (event_id === undefined) {
    const id = idArgument('webhook_endpoint_id', webhook_endpoint_id);
    return (limit) => simplane.webhookEndpoints.listDeliveries(id, sized(limit), { signal });
  }
  if (query.status !== undefined) {
    throw new InvalidArgument('status', 'status needs webhook_endpoint_id; an event has few deliveries.');
  }
  const id = idArgument('event_id', event_id);
  return (limit) => simplane.events.listDeliveries(id, sized(limit), { signal });
}
