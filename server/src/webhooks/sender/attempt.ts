import { type Dispatcher, errors } from 'undici';
import { onAbort } from '../../bounded-signal.ts';
import { remember } from '../../remember.ts';
import { parseRetryAfter } from './retry.ts';

export type AttemptResult = {
  ok: boolean;
  statusCode: number | null;
  /** A class of failure, in words for the endpoint's owner; null when there was an answer. */
  error: string | null;
  /** The first kilobyte of the answer, where it may be shown. */
  excerpt: string | null;
  retryAfterMs: number | null;
  durationMs: number;
};

type Attempt = {
  url: string;
  headers: Record<string, string>;
  body: string;
  dispatcher: Dispatcher;
  /** Whether what this address answers may be shown to the endpoint's owner; asked once it has answered. */
  mayShowResponse(url: string): boolean;
  timeoutMs: number;
  stopping: AbortSignal;
  nowMs: number;
};

const mostBytes = 64 * 1024;
const excerptBytes = 1024;

/**
 * One signed POST, bounded in time and in what is read. Never follows a redirect: a 3xx is a failure.
 *
 * On undici's handler interface, since `request` makes a stream, a signal and an iterator for every answer.
 */
export function attempt(options: Attempt): Promise<AttemptResult> {
  const { url, headers, body, dispatcher, mayShowResponse, timeoutMs, stopping, nowMs } = options;
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    let request: Dispatcher.DispatchController | null = null;
    let statusCode: number | null = null;
    let retryAfter: string | string[] | undefined;
    let isShown = false;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    let forget = () => {};

    /** The status is the answer; whatever goes wrong with the rest of the body does not change it. */
    function end(error: string): void {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      forget();
      resolve({
        ok: statusCode !== null && statusCode >= 200 && statusCode < 300,
        statusCode,
        error: statusCode === null ? error : null,
        excerpt: readExcerpt(chunks),
        retryAfterMs: parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, nowMs),
        durationMs: Math.round(performance.now() - startedAtMs),
      });
    }

    function cutOff(error: string): void {
      end(error);
      request?.abort(new Error(error));
    }

    const timer = setTimeout(cutOff, timeoutMs, 'timed out');
    forget = onAbort(stopping, () => cutOff('stopped'));
    if (isOver) return;
    const { origin, path } = placeOf(url);
    dispatcher.dispatch(
      { origin, path, method: 'POST', headers, body },
      {
        onRequestStart(controller) {
          request = controller;
          if (isOver) controller.abort(new Error('cut off while it waited for a connection'));
        },
        onResponseStart(_, status, answered) {
          if (status < 200) return;
          statusCode = status;
          retryAfter = answered['retry-after'];
          isShown = mayShowResponse(url);
        },
        onResponseData(_, chunk) {
          if (isShown && bytes < excerptBytes) chunks.push(chunk.subarray(0, excerptBytes - bytes));
          bytes += chunk.length;
          if (bytes > mostBytes) cutOff('');
        },
        onResponseEnd: () => end(''),
        onResponseError: (_, error) => end(classify(error)),
      },
    );
  });
}

const placeOf = remember((url: string) => {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: `${pathname}${search}` };
});

function readExcerpt(chunks: Buffer[]): string | null {
  if (chunks.length === 0) return null;
  const text = Buffer.concat(chunks).toString('utf8').replaceAll('\u0000', '');
  return text === '' ? null : text;
}

function classify(error: unknown): string {
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError) {
    return 'timed out';
  }
  if (error instanceof errors.ConnectTimeoutError) return 'could not connect in time';
  const { code, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return named[code ?? cause?.code ?? ''] ?? `failed (${code ?? cause?.code ?? (error as Error).name})`;
}

const named: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host name not found',
  EAI_AGAIN: 'host name look-up failed',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'could not connect in time',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  ERR_ADDRESS_REFUSED: 'address not allowed',
  CERT_HAS_EXPIRED: 'certificate expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate chain is incomplete',
};
