import type { ServerResponse } from 'node:http';
import { AppError } from '../platform/app-error.ts';

/** Work that waits for its turn: not done if the client has left meanwhile, or whoever asks and leaves would keep everyone busy. */
export function unlessGone<T>(response: ServerResponse, work: () => Promise<T>): () => Promise<T> {
  return async () => {
    if (response.destroyed) throw new AppError('unavailable', 'The client left before its turn came.');
    return work();
  };
}
