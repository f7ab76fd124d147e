import { type Dispatcher, errors, request } from 'undici';
import { withDeadline } from '../../bounded-signal.ts';
import { parseRetryAfter } from './retry.ts';

export type AttemptResult = {
  ok: boolean;
  statusCode: number | null;
  /** A class of failure, in words for the endpoint's owner; null when there was an answer. */
  error: string | null;
  /** The first kilobyte of the answer. */
  excerpt: string | null;
  retryAfterMs: number | null;
  durationMs: number;
};

type Attempt = {
  url: string;
  headers: Record<string, string>;
  body: string;
  dispatcher: Dispatcher;
  timeoutMs: number;
  stopping: AbortSignal;
  nowMs: number;
};

const mostBytes = 64 * 1024;
const excerptBytes = 1024;

/** One signed POST, bounded in time and in what is read. Never follows a redirect: a 3xx is a failure. */
export async function attempt(options: Attempt): Promise<AttemptResult> {
  const startedAtMs = performance.now();
  const result = await withDeadline(options.timeoutMs, options.stopping, (signal) =>
    send(options, signal).catch((error: unknown) => ({
      ...noAnswer,
      error: options.stopping.aborted ? 'stopped' : classify(error, signal),
    })),
  );
  return { ...result, durationMs: Math.round(performance.now() - startedAtMs) };
}

const noAnswer = { ok: false, statusCode: null, excerpt: null, retryAfterMs: null };

async function send({ url, headers, body, dispatcher, nowMs }: Attempt, signal: AbortSignal) {
  const response = await request(url, { method: 'POST', headers, body, dispatcher, signal });
  const { statusCode } = response;
  const retryAfter = response.headers['retry-after'];
  return {
    ok: statusCode >= 200 && statusCode < 300,
    statusCode,
    error: null,
    excerpt: await readExcerpt(response.body, signal),
    retryAfterMs: parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, nowMs),
  };
}

/** The status is the answer; whatever goes wrong with the rest of the body does not change it. */
async function readExcerpt(
  body: Dispatcher.ResponseData['body'],
  signal: AbortSignal,
): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (bytes < excerptBytes) chunks.push(chunk.subarray(0, excerptBytes - bytes));
      bytes += chunk.length;
      if (bytes > mostBytes || signal.aborted) break; // leaving the loop destroys the stream, and its connection
    }
  } catch {
    // cut off by the receiver or by our time limit
  }
  const text = Buffer.concat(chunks).toString('utf8').replaceAll('\u0000', '');
  return text === '' ? null : text;
}

function classify(error: unknown, signal: AbortSignal): string {
  if (
    signal.aborted ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  ) {
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
