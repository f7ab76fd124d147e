import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { ApiError, type Simplane } from '@simplane/sdk';
import { explainRefusal } from './explain-refusal.ts';

/** Prompts and resources have no results that are errors: a refusal is an error of the protocol, in the same words. */
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
