import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

/** `status` is null if there was no answer; `failure` then says why. */
export type Answer = { status: number | null; durationMs: number; failure: string | null };

// As long as the service waits.
const timeoutMs = 15_000;
// As much as the service reads.
const maxAnswerBytes = 64 * 1024;

type Message = { headers: Record<string, string>; body: string };

/** Sends one POST and reads the answer. Does not follow redirects. */
export async function post(target: URL, message: Message, stopped: AbortSignal): Promise<Answer> {
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
    const status = await send(target, message, controller.signal);
    return { status, durationMs: performance.now() - startMs, failure: null };
  } catch (error) {
    const { code, message: text } = error as NodeJS.ErrnoException;
    const failure = isTimedOut ? `no answer in ${timeoutMs / 1000} s` : `not reached: ${code ?? text}`;
    return { status: null, durationMs: performance.now() - startMs, failure };
  } finally {
    clearTimeout(timer);
    stopped.removeEventListener('abort', stop);
  }
}

function send(target: URL, { headers, body }: Message, signal: AbortSignal): Promise<number> {
  const request = target.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = request(
      target,
      // A new connection per event: reusing one the app just closed would look like an app failure.
      {
        method: 'POST',
        headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
        agent: false,
        signal,
      },
      (response) => void readToEnd(response).then(() => resolve(response.statusCode ?? 0), reject),
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Breaking out of the loop closes the connection. */
async function readToEnd(response: IncomingMessage): Promise<void> {
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size >= maxAnswerBytes) break;
  }
}
