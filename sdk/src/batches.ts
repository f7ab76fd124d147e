import { imageOf } from './answer.ts';
import { type BodyOf, type CallOperation, pathOf, type QueryOf } from './call.ts';
import { withDryRun } from './dry-run.ts';
import { type Batch, endpoints } from './generated.ts';
import { createList } from './list.ts';
import type { CallOptions, Transport } from './transport.ts';

const mediaTypes = {
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
  zip: 'application/zip',
  zip_svg: 'application/zip',
  cards: 'application/zip',
} as const;

type FileFormat = keyof typeof mediaTypes;

export function batchesOf(call: CallOperation, transport: Transport) {
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
