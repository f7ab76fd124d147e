import { type InputOf, operations } from '@simplane/contract';
import { inputSchema, outputSchema, pick } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.listEvents;

export const listEvents = defineTool({
  name: 'list_events',
  title: 'List events',
  description:
    'Returns the event log, newest first. For the next page, pass next_cursor as starting_after, until has_more is false.',
  annotations: readOnly,
  input: inputSchema(pick(operation.query, ['limit', 'starting_after'])),
  output: outputSchema(operation),
  run: async ({ simplane, signal }, query: InputOf<typeof operation>['query']) =>
    simplane.events.list(query, { signal }),
});
