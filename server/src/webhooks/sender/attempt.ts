import { type Dispatcher, errors } from 'undici';
import { onAbort } from '../../worker/deadline.ts';
import type { GuardedRequest, Peer } from '../guard/connector.ts';
import { memoizeBounded } from './memoize-bounded.ts';
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

/** Nothing was sent, for a reason that says nothing about the endpoint. `isFault`: the operator must fix something. */
export type Unsent = { unsent: string; isFault: boolean };

type Attempt = {
  url: string;
  /** What the URL's host resolved to. */
  addresses: readonly string[];
  headers: Record<string, string>;
  body: string;
  dispatcher: Dispatcher;
  /** Whether what this address answers may be shown to the endpoint's owner. */
  mayShowResponse(address: string): boolean;
  timeoutMs: number;
  stopping: AbortSignal;
  nowMs: number;
};

const mostBytes = 64 * 1024;
const excerptBytes = 1024;
// Proxies send one or two (102, 103). Endless ones took 9.4 s of CPU in an attempt of 15 s.
const mostInterimAnswers = 4;
// What the parser skips is in no other bound: a reason phrase, chunk extensions, blank lines. Checked every so often.
const mostWireBytes = 512 * 1024;
const checkEveryMs = 250;

/**
 * One signed POST, bounded in time and in what is read. Never follows a redirect: a 3xx is a failure.
 *
 * On undici's handler interface, since `request` makes a stream, a signal and an iterator for every answer.
 */
export function attempt(options: Attempt): Promise<AttemptResult | Unsent> {
  const { url, addresses, headers, body, dispatcher, mayShowResponse, timeoutMs, stopping, nowMs } = options;
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    let request: Dispatcher.DispatchController | null = null;
    let peer: Peer | null = null;
    let bytesBefore = 0;
    let interimAnswers = 0;
    let statusCode: number | null = null;
    let retryAfter: string | string[] | undefined;
    let isShown = false;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    let forget = () => {};

    function isFirstEnd(): boolean {
      if (isOver) return false;
      isOver = true;
      clearTimeout(timer);
      forget();
      return true;
    }

    /** The status is the answer; whatever goes wrong with the rest of the body does not change it. */
    function end(error: string): void {
      if (!isFirstEnd()) return;
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

    function fail(error: unknown): void {
      const cause = statusCode === null ? codeOf(error) : '';
      if (!ours.has(cause)) end(classify(error));
      else if (isFirstEnd()) resolve({ unsent: `no connection could be opened (${cause})`, isFault: true });
    }

    function endLate(): void {
      if (peer) cutOff('timed out');
      else if (isFirstEnd()) resolve({ unsent: 'no connection to its host was free', isFault: false });
    }

    function check(): void {
      const leftMs = startedAtMs + timeoutMs - performance.now();
      const wireBytes = request && peer ? peer.bytesRead() - bytesBefore : 0;
      if (leftMs <= 0) endLate();
      else if (wireBytes > mostWireBytes) cutOff('answer too long');
      else timer = setTimeout(check, Math.min(leftMs, checkEveryMs));
    }

    let timer = setTimeout(check, Math.min(timeoutMs, checkEveryMs));
    forget = onAbort(stopping, () => cutOff('stopped'));
    if (isOver) return;
    const { origin, path } = placeOf(url);
    // Named one by one: made with a spread, undici's reading of it took seven times as long.
    const guarded: GuardedRequest = {
      origin,
      path,
      method: 'POST',
      headers,
      body,
      addresses,
      onPeer(its) {
        peer = its;
      },
    };
    dispatcher.dispatch(guarded, {
      onRequestStart(controller) {
        request = controller;
        bytesBefore = peer?.bytesRead() ?? 0;
        if (isOver) controller.abort(new Error('cut off while it waited for a connection'));
      },
      onResponseStart(_, status, answered) {
        if (status < 200) {
          interimAnswers += 1;
          if (interimAnswers > mostInterimAnswers) cutOff('too many interim answers (1xx)');
          return;
        }
        statusCode = status;
        retryAfter = answered['retry-after'];
        isShown = peer !== null && mayShowResponse(peer.address());
      },
      onResponseData(_, chunk) {
        if (isShown && bytes < excerptBytes) chunks.push(chunk.subarray(0, excerptBytes - bytes));
        bytes += chunk.length;
        if (bytes > mostBytes) cutOff('');
      },
      onResponseEnd: () => end(''),
      onResponseError: (_, error) => fail(error),
    });
  });
}

export const placeOf = memoizeBounded((url: string) => {
  const { origin, hostname, pathname, search } = new URL(url);
  return { origin, hostname: hostname.replace(/^\[|\]$/g, ''), path: `${pathname}${search}` };
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
  // undici's words for a 100 or 101 that nobody asked for.
  if (error instanceof errors.SocketError && /^bad (response|upgrade)$/.test(error.message)) {
    return 'unexpected interim answer (100 or 101)';
  }
  const code = codeOf(error);
  return named[code] ?? `failed (${code})`;
}

function codeOf(error: unknown): string {
  const { code, cause, name } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  return code ?? cause?.code ?? name;
}

/** Out of descriptors or memory: every endpoint would fail the same way. */
const ours = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

const named: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  ENOTFOUND: 'host name not found',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ETIMEDOUT: 'could not connect in time',
  EPIPE: 'connection closed',
  UND_ERR_SOCKET: 'connection closed',
  UND_ERR_HEADERS_OVERFLOW: 'headers too long',
  ERR_ADDRESS_REFUSED: 'address not allowed',
  CERT_HAS_EXPIRED: 'certificate expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is self-signed',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate chain is incomplete',
};
