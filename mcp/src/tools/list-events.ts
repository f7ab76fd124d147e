import { type InputOf, operations } from '@simplane/contract';
import { readBoundedPage } from '../bound-answer.ts';
import { inputSchema, outputSchema, pick } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.listEvents;

export const listEvents = defineTool({
  name: 'list_events',
  title: 'List events',
  description:
    'Returns the event log, newest first. For the next page, pass next_cursor as starting_after, until has_more is false. ' +
    'list_deliveries shows whether an event arrived at its receivers.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema(pick(operation.query, ['limit', 'starting_after'])),
  output: outputSchema(operation),
  run: ({ simplane, signal }, query: InputOf<typeof operation>['query']) =>
    readBoundedPage('list_events', (limit) =>
      simplane.events.list({ ...query, ...(limit !== undefined && { limit }) }, { signal }),
    ),
});
