import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '@simplane/contract';
import { ApiError, type RequestLogEntry } from '@simplane/sdk';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly, type ToolContext } from '../tool.ts';

const operation = operations.getRequest;
// The server writes its log in batches, so a request of a moment ago may still be missing.
const secondLookMs = 1_000;

export const getRequest = defineTool({
  name: 'get_request',
  title: 'Get a request',
  description:
    'Returns how an API request of the last seven days ended: its status, its error and what to do about it, and the ids it ' +
    'created. Takes the request id that an error or a response header (Request-Id) names. Contains no bodies and no secrets.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({
    properties: { request_id: operation.params.properties.id },
    required: ['request_id'],
  }),
  output: outputSchema(operation),
  argumentNames: () => ({ id: 'request_id' }),
  run: (context, args: { request_id?: unknown }) => find(context, idArgument('request_id', args.request_id)),
});

async function find({ simplane, signal }: ToolContext, id: string): Promise<RequestLogEntry> {
  try {
    return await simplane.requests.get(id, { signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'resource_missing') throw error;
    await sleep(secondLookMs, undefined, { signal });
    return simplane.requests.get(id, { signal });
  }
}
