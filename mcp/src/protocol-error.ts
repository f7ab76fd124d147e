import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { ApiError, type Simplane } from '@simplane/sdk';
import { explainRefusal } from './explain-refusal.ts';

/** Prompts and resources cannot return error results, so a refusal becomes a protocol error with the same text. */
export async function orProtocolError<T>(
  simplane: Simplane,
  read: () => PromiseLike<T>,
  uri?: string,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    const text = await explainRefusal(error, simplane);
    if (uri !== undefined && error instanceof ApiError && error.status === 404) {
      throw new ResourceNotFoundError(uri, text);
    }
    throw new ProtocolError(ProtocolErrorCode.InternalError, text);
  }
}
