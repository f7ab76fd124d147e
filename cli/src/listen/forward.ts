import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Answer, Incoming } from './receive.ts';

export type Forwarded = { answer: Answer; durationMs: number; failure: string | null };

// The service gives an attempt 15 s in all, and reads 64 kB of what comes back.
const timeoutMs = 14_000;
const largestAnswerBytes = 64 * 1024;

// These belong to one connection, not to the message.
const ofTheConnection = new Set([
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

/** Gives the app the same bytes under the same signature, and the service the app's own answer. Redirects are not followed. */
export async function forward(target: URL, incoming: Incoming, stopped: AbortSignal): Promise<Forwarded> {
  const startMs = performance.now();
  // Not AbortSignal.any: on Node 20 it would hang something on `stopped` with every event.
  const ended = new AbortController();
  let isTimeUp = false;
  const stop = () => ended.abort();
  const timer = setTimeout(() => {
    isTimeUp = true;
    stop();
  }, timeoutMs);
  stopped.addEventListener('abort', stop);
  if (stopped.aborted) stop();
  try {
    const answer = await send(target, incoming, ended.signal);
    return { answer, durationMs: performance.now() - startMs, failure: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const failure = isTimeUp ? `no answer in ${timeoutMs / 1000} s` : `not reached: ${code ?? message}`;
    return { answer: { status: isTimeUp ? 504 : 502 }, durationMs: performance.now() - startMs, failure };
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
      // A connection of its own each: one that the app has just closed would look like a failure of the app.
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
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofTheConnection.has(name)));
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= largestAnswerBytes) break; // leaving the loop closes the connection
  }
  const { 'content-type': type, 'retry-after': retryAfter } = response.headers;
  return {
    status: response.statusCode ?? 502,
    headers: { ...(type && { 'Content-Type': type }), ...(retryAfter && { 'Retry-After': retryAfter }) },
    body: Buffer.concat(chunks).subarray(0, largestAnswerBytes),
  };
}
