import { operations } from '@simplane/contract';
import { idArgument } from '../invalid-argument.ts';
import { inputSchema, outputSchema } from '../schema.ts';
import { defineTool, readOnly } from '../tool.ts';

const operation = operations.getBatch;

export const getBatch = defineTool({
  name: 'get_batch',
  title: 'Get a batch',
  description:
    'Returns how many orders of a batch have succeeded, failed or are open. A batch.finished event follows when none is open.',
  scope: operation.scope,
  annotations: readOnly,
  input: inputSchema({ properties: { batch_id: operation.params.properties.id }, required: ['batch_id'] }),
  output: outputSchema(operation),
  argumentNames: () => ({ id: 'batch_id' }),
  run: ({ simplane, signal }, args: { batch_id?: unknown }) =>
    simplane.batches.get(idArgument('batch_id', args.batch_id), { signal }),
});
