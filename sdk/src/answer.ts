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

/** Browsers hide the response to a redirect and show status 0. */
export function isRedirect({ status }: Answer): boolean {
  return status === 0 || (status >= 300 && status < 400);
}
