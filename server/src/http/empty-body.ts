import type { IncomingMessage } from 'node:http';

export const isJsonType = /^application\/json\s*(;|$)/i;

/**
 * An empty body is no body, whatever its headers say: removes them, so that Fastify does not look for a parser. Only a chunked body
 * that is not JSON has to be waited for; the JSON parser accepts an empty one.
 */
export function ignoreEmptyBody(request: IncomingMessage): Promise<void> | null {
  const { headers, method } = request;
  if (method === 'GET' || method === 'HEAD') return null;
  const type = headers['content-type'];
  if (headers['transfer-encoding'] === undefined) {
    const length = headers['content-length'];
    if (type !== undefined && (length === undefined || length === '0')) delete headers['content-type'];
    return null;
  }
  if (type !== undefined && isJsonType.test(type)) return null;
  return isEmpty(request).then((isNone) => {
    if (!isNone) return;
    delete headers['content-type'];
    delete headers['transfer-encoding'];
  });
}

/** Resolves at the first byte or at the end. Discards the rest, which will be refused, so that the connection stays usable. */
function isEmpty(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isNone: boolean) => {
      request.off('data', endFilled).off('end', endEmpty).off('close', endFilled).resume();
      resolve(isNone);
    };
    const endEmpty = () => end(true);
    const endFilled = () => end(false);
    request.on('data', endFilled).on('end', endEmpty).on('close', endFilled);
  });
}
