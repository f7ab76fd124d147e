import { operations } from '@simplane/contract';
import { readBoundedPage } from '../bound-answer.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.listEvents;
const { type, iccid, execution_id, reference, limit, starting_after } = operation.query.properties;

/** Arguments instead of the API's `created[gte]`: some model providers refuse brackets in names. */
const createdArguments = {
  created_gt: 'created[gt]',
  created_gte: 'created[gte]',
  created_lt: 'created[lt]',
  created_lte: 'created[lte]',
} as const;

type Args = {
  limit?: number;
  starting_after?: string;
  type?: string | string[];
  iccid?: string;
  execution_id?: string;
  reference?: string;
} & {
  [Name in keyof typeof createdArguments]?: number;
};

const created = Object.entries(createdArguments) as [keyof typeof createdArguments, `created[${string}]`][];

export const listEvents = defineTool({
  name: 'list_events',
  title: 'List events',
  description:
    'Returns the event log, newest first. For the next page, pass next_cursor as starting_after, until has_more is false. ' +
    'list_deliveries shows whether an event arrived at its receivers; wait_for_event waits for the next one.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({
    properties: {
      type,
      iccid,
      execution_id,
      reference,
      limit,
      starting_after,
      ...Object.fromEntries(
        created.map(([argument, param]) => [
          argument,
          operation.query.properties[param as keyof typeof operation.query.properties],
        ]),
      ),
    },
  }),
  output: outputSchema(operation),
  argumentNames: () => Object.fromEntries(created.map(([argument, param]) => [param, argument])),
  run: ({ simplane, signal }, args: Args) => {
    const query = Object.fromEntries(
      Object.entries(args).map(([name, value]) => [
        createdArguments[name as keyof typeof createdArguments] ?? name,
        value,
      ]),
    );
    return readBoundedPage('list_events', (limit) =>
      simplane.events.list({ ...query, ...(limit !== undefined && { limit }) }, { signal }),
    );
  },
});
