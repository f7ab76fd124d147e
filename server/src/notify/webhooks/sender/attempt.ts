import type { Dispatcher } from 'undici';
import { onAbort } from '../../../platform/worker/deadline.ts';
import { classify } from '../guard/address-ranges.ts';
import type { GuardedRequest, Peer } from '../guard/connector.ts';
import { codeOf, describeFailure } from './describe-failure.ts';
import { parseRetryAfter } from './retry.ts';

export type AttemptResult = {
  ok: boolean;
  statusCode: number | null;
  /** The kind of failure, worded for the endpoint's owner; null if there was a response. */
  error: string | null;
  /** The code of the same failure, for the log. */
  cause?: string;
  /** The first kilobyte of the response body, if the owner may see it. */
  excerpt: string | null;
  retryAfterMs: number | null;
  durationMs: number;
};

/** Nothing was sent, and the endpoint is not to blame. `isFault`: the operator must fix something. */
export type Unsent = { unsent: string; isFault: boolean };

type Attempt = {
  url: string;
  /** The addresses of the URL's host. */
  addresses: readonly string[];
  headers: Record<string, string>;
  body: string;
  dispatcher: Dispatcher;
  /** Whether the endpoint's owner may see responses from this address. */
  mayShowResponse(address: string): boolean;
  timeoutMs: number;
  stopping: AbortSignal;
  nowMs: number;
};

const maxBodyBytes = 64 * 1024;
const excerptBytes = 1024;
// Proxies send one or two (102, 103). An endless series took 9.4 s of CPU in an attempt of 15 s.
const maxInterimResponses = 4;
// No other limit covers what the parser skips: the reason phrase, chunk extensions, blank lines.
const maxWireBytes = 512 * 1024;
const checkIntervalMs = 250;

/**
 * Sends one signed POST with limits on time and bytes read. Never follows a redirect: a 3xx is a failure.
 *
 * Uses undici's handler interface, because `request` creates a stream, a signal and an iterator for every response.
 */
export function attempt(options: Attempt): Promise<AttemptResult | Unsent> {
  const { url, addresses, headers, body, dispatcher, mayShowResponse, timeoutMs, stopping, nowMs } = options;
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    let request: Dispatcher.DispatchController | null = null;
    let peer: Peer | null = null;
    let bytesBefore = 0;
    let interimResponses = 0;
    let statusCode: number | null = null;
    let retryAfter: string | string[] | undefined;
    let isShown = false;
    const chunks: Buffer[] = [];
    let bytes = 0;
    let isOver = false;
    let removeAbortListener = () => {};

    function endOnce(): boolean {
      if (isOver) return false;
      isOver = true;
      clearTimeout(timer);
      removeAbortListener();
      return true;
    }

    /** The status decides the outcome; a later error in the body does not change it. */
    function end(error: string, cause?: string): void {
      if (!endOnce()) return;
      resolve({
        ok: statusCode !== null && statusCode < 300, // an interim response is none
        statusCode,
        error: statusCode === null ? error : null,
        ...(statusCode === null && cause !== undefined && { cause }),
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
      if (!localFaults.has(cause)) end(describeFailure(error), cause);
      else if (endOnce()) resolve({ unsent: `no connection could be opened (${cause})`, isFault: true });
    }

    function endOnTimeout(): void {
      if (peer) cutOff('timed out');
      else if (endOnce()) resolve({ unsent: 'no connection to the host was free', isFault: false });
    }

    function check(): void {
      const leftMs = startedAtMs + timeoutMs - performance.now();
      const wireBytes = request && peer ? peer.bytesRead() - bytesBefore : 0;
      if (leftMs <= 0) endOnTimeout();
      else if (wireBytes > maxWireBytes) cutOff('response too long');
      else timer = setTimeout(check, Math.min(leftMs, checkIntervalMs));
    }

    let timer = setTimeout(check, Math.min(timeoutMs, checkIntervalMs));
    removeAbortListener = onAbort(stopping, () => cutOff('stopped'));
    if (isOver) return;
    const { origin, path } = parseUrl(url);
    // No spread here: undici took seven times as long to read an object built with one.
    const guarded: GuardedRequest = {
      origin,
      path,
      method: 'POST',
      headers,
      body,
      addresses,
      onPeer(connected) {
        peer = connected;
      },
    };
    dispatcher.dispatch(guarded, {
      onRequestStart(controller) {
        request = controller;
        bytesBefore = peer?.bytesRead() ?? 0;
        if (isOver) controller.abort(new Error('canceled while waiting for a connection'));
      },
      onResponseStart(_, status, responseHeaders) {
        if (status < 200) {
          interimResponses += 1;
          if (interimResponses > maxInterimResponses) cutOff('too many interim responses (1xx)');
          return;
        }
        statusCode = status;
        retryAfter = responseHeaders['retry-after'];
        isShown = peer !== null && mayShowResponse(peer.address());
      },
      onResponseData(_, chunk) {
        if (isShown && bytes < excerptBytes) chunks.push(chunk.subarray(0, excerptBytes - bytes));
        bytes += chunk.length;
        if (bytes > maxBodyBytes) cutOff('');
      },
      onResponseEnd: () => end(''),
      onResponseError: (_, error) => fail(error),
    });
  });
}

export const parseUrl = memoizeBounded((url: string) => {
  const { origin, hostname, pathname, search } = new URL(url);
  return { origin, hostname: hostname.replace(/^\[|\]$/g, ''), path: `${pathname}${search}` };
});

function readExcerpt(chunks: Buffer[]): string | null {
  if (chunks.length === 0) return null;
  const text = Buffer.concat(chunks).toString('utf8').replaceAll('\u0000', '');
  return text === '' ? null : text;
}

/** This process is out of descriptors or memory: every endpoint would fail the same way. */
const localFaults = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS']);

/**
 * Whether an endpoint's owner may see responses from this address. Internal addresses are excluded, so webhooks cannot be used to
 * read internal services. Cached, because classifying an address takes 5 µs and every delivery needs it.
 */
export const mayShowResponse = memoizeBounded((address) => classify(address).class === 'public');

/** Caches the results of `compute` by argument. Beyond `limit` entries the oldest is dropped. */
function memoizeBounded<T>(compute: (text: string) => T, limit = 1_000): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const value = compute(text);
    if (known.size >= limit) known.delete(known.keys().next().value as string);
    known.set(text, value);
    return value;
  };
}
