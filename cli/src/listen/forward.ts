import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Answer, Incoming } from './receive.ts';

export type Forwarded = { answer: Answer; durationMs: number; failure: string | null };

// The service allows 15 s per attempt and reads 64 kB of the response.
const timeoutMs = 14_000;
const maxAnswerBytes = 64 * 1024;

// Headers that describe one connection, not the message.
const hopByHopHeaders = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Forwards the same bytes and signature to the app, and returns its response. Does not follow redirects. */
export async function forward(target: URL, incoming: Incoming, stopped: AbortSignal): Promise<Forwarded> {
  const startMs = performance.now();
  // Not AbortSignal.any: on Node 20 each call leaks a reference on `stopped`.
  const controller = new AbortController();
  let isTimedOut = false;
  const stop = () => controller.abort();
  const timer = setTimeout(() => {
    isTimedOut = true;
    stop();
  }, timeoutMs);
  stopped.addEventListener('abort', stop);
  if (stopped.aborted) stop();
  try {
    const answer = await send(target, incoming, controller.signal);
    return { answer, durationMs: performance.now() - startMs, failure: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const failure = isTimedOut ? `no answer in ${timeoutMs / 1000} s` : `not reached: ${code ?? message}`;
    return { answer: { status: isTimedOut ? 504 : 502 }, durationMs: performance.now() - startMs, failure };
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
  }
}

function send(target: URL, { headers, body }: Incoming, signal: AbortSignal): Promise<Answer> {
  const request = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(
      target,
      // A new connection per event: reusing one the app just closed would look like an app failure.
      {
        method: 'POST',
        headers: { ...messageHeaders(headers), 'Content-Length': body.length },
        agent: false,
        signal,
      },
      (response) => void readAnswer(response).then(resolve, reject),
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

function messageHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHopHeaders.has(name)));
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= maxAnswerBytes) break; // breaking out closes the connection
  }
  const { 'content-type': type, 'retry-after': retryAfter } = response.headers;
  return {
    status: response.statusCode ?? 502,
    headers: { ...(type && { 'Content-Type': type }), ...(retryAfter && { 'Retry-After': retryAfter }) },
    body: Buffer.concat(chunks).subarray(0, maxAnswerBytes),
  };
}
