import { dataOf } from './answer.ts';
import { SimplaneError } from './errors.ts';
import type { CallOptions, Transport } from './transport.ts';

export type RawRequest = {
  method: string;
  /** Such as `/v1/esims`. */
  path: string;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
};

/** Calls an operation by its method and path: for those that this version has no function for. */
export function createRequest(transport: Transport) {
  return async (request: RawRequest, options?: CallOptions): Promise<unknown> => {
    if (!request.path.startsWith('/')) {
      throw new SimplaneError(`path must begin with /, such as /v1/esims; got ${request.path}.`);
    }
    return transport(request, options, dataOf);
  };
}
