import { ApiError } from './errors.ts';

/** A response, read completely. */
export type Answer = { status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> };

/** Parses the body as JSON; undefined if it is not JSON. */
export function readJson({ bytes }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** A 200 without JSON comes from another server: the base URL is wrong. */
export function dataOf(answer: Answer): unknown {
  const data = readJson(answer);
  if (data === undefined) throw new ApiError({ ...answer, body: undefined });
  return data;
}

/** So does a 200 of another type than the image that was asked for. */
export function imageOf(answer: Answer, type: string): Uint8Array {
  if (!answer.headers.get('content-type')?.startsWith(type))
    throw new ApiError({ ...answer, body: undefined });
  return answer.bytes;
}

/** Browsers hide the response to a redirect and show status 0. */
export function isRedirect({ status }: Answer): boolean {
  return status === 0 || (status >= 300 && status < 400);
}
