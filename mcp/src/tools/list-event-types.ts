import { type InputOf, operations } from '@simplane/contract';
import { readBoundedPage } from '../bound-answer.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.listEventTypes;
const { limit, starting_after } = operation.query.properties;
// All types in one call: they are few and short.
const defaultLimit = 100;

export const listEventTypes = defineTool({
  name: 'list_event_types',
  title: 'List event types',
  description:
    'Returns every event type and the fields of its data: the names that create_webhook_endpoint takes in ' +
    'enabled_event_types.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({ properties: { limit: { ...limit, default: defaultLimit }, starting_after } }),
  output: outputSchema(operation),
  run: ({ simplane, signal }, query: InputOf<typeof operation>['query']) =>
    readBoundedPage('list_event_types', (size = query.limit ?? defaultLimit) =>
      simplane.events.listTypes({ ...query, limit: size }, { signal }),
    ),
});
