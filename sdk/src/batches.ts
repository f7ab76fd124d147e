import { imageOf } from './answer.ts';
import { type BodyOf, type CallOperation, pathOf, type QueryOf } from './call.ts';
import { withDryRun } from './dry-run.ts';
import { TimeoutError } from './errors.ts';
import { type Batch, endpoints } from './generated.ts';
import { createList } from './list.ts';
import { pause } from './pause.ts';
import type { CallOptions, Transport } from './transport.ts';

const mediaTypes = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  zip: 'application/zip',
  zip_svg: 'application/zip',
  cards: 'application/zip',
} as const;

type FileFormat = keyof typeof mediaTypes;

export type BatchWaitOptions = Pick<CallOptions, 'timeoutMs' | 'maxRetries' | 'signal'> & {
  /** How long to wait. Defaults to 10 minutes. After a timeout, you can wait again. */
  waitMs?: number | undefined;
  /** Called after each poll. */
  onProgress?: ((batch: Batch) => void) | undefined;
};

const firstPauseMs = 100;
const maxPauseMs = 2_000;

async function waitForBatch(
  call: CallOperation,
  id: string,
  { waitMs = 600_000, onProgress, ...options }: BatchWaitOptions = {},
): Promise<Batch> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
    options.signal?.throwIfAborted();
    const batch = await call('getBatch', { params: { id } }, options);
    onProgress?.(batch);
    if (batch.open === 0) return batch;
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) {
      throw new TimeoutError(
        `${batch.open} orders of ${id} are open after ${waitMs} ms. They go on; wait again later.`,
      );
    }
    await pause(Math.min(pauseMs, leftMs), options.signal);
  }
}

export function batchesOf(call: CallOperation, transport: Transport) {
  return {
    /** Orders up to 1,000 eSIMs: all are accepted, or none. Returns the batch; `get` says how far it is. */
    create: withDryRun<[], BodyOf<'createBatch'>, Batch>((body, options) =>
      call('createBatch', { body }, options),
    ),
    list: (query?: QueryOf<'listBatches'>, options?: CallOptions) =>
      createList(query, (query) => call('listBatches', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getBatch', { params: { id } }, options),
    /** Polls the batch with growing pauses until all its orders have ended. Some of them may have failed. */
    wait: (id: string, options?: BatchWaitOptions) => waitForBatch(call, id, options),
    /** Cancels the orders that have not reached the network. */
    cancel: (id: string, options?: CallOptions) => call('cancelBatch', { params: { id } }, options),
    /** Returns what end users need to install the eSIMs that are ready. Treat it as a secret. */
    installProfiles: (id: string, options?: CallOptions) =>
      call('listBatchInstallProfiles', { params: { id } }, options),
    /** The same as a file: CSV, NDJSON, or a ZIP archive of QR codes or of cards to print. Treat it as a secret. */
    async installProfilesFile(id: string, format: FileFormat, options?: CallOptions): Promise<Uint8Array> {
      const [method, path] = endpoints.listBatchInstallProfiles;
      const request = { method, path: `${pathOf(path, { id })}?format=${format}` };
      return transport(request, options, (answer) => imageOf(answer, mediaTypes[format]));
    },
  };
}
