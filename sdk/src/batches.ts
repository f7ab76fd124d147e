import type { BodyOf, CallOperation, QueryOf } from './call.ts';
import { withDryRun } from './dry-run.ts';
import type { Batch } from './generated.ts';
import { createList } from './list.ts';
import type { CallOptions } from './transport.ts';

export function batchesOf(call: CallOperation) {
  return {
    /** Orders up to 1,000 eSIMs: all are accepted, or none. Returns the batch; `get` says how far it is. */
    create: withDryRun<[], BodyOf<'createBatch'>, Batch>((body, options) =>
      call('createBatch', { body }, options),
    ),
    list: (query?: QueryOf<'listBatches'>, options?: CallOptions) =>
      createList(query, (query) => call('listBatches', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getBatch', { params: { id } }, options),
    /** Cancels the orders that have not reached the network. */
    cancel: (id: string, options?: CallOptions) => call('cancelBatch', { params: { id } }, options),
  };
}
