import { isRedirect } from './answer.ts';
import type { QueryOf } from './call.ts';
import type { Connection } from './connection.ts';
import { ConnectionError, SimplaneError } from './errors.ts';
import { errorResponse, redirected, unreachable } from './failure.ts';
import { endpoints } from './generated.ts';
import { createEventParser, type ServerSentEvent } from './parse-server-sent-events.ts';
import { startTimer } from './start-timer.ts';

type StreamOptions = {
  signal: AbortSignal;
  /** A stream without a byte for this long is broken: the server sends a comment every 15 s. */
  idleTimeoutMs: number;
  /** For the hooks. */
  attempt: number;
};

/**
 * Makes one attempt to open a stream of the feed. The stream reads only what is asked for. It ends when the server ends it,
 * throws a ConnectionError when it breaks off, and closes the connection when its reader stops.
 */
export type OpenEventStream = (
  query: QueryOf<'readEventFeed'>,
  options: StreamOptions,
) => Promise<AsyncGenerator<ServerSentEvent, void>>;

/** `base` replaces `/v1` in the path. */
export function createStreamOpener({ prepare, attemptOnce }: Connection, base = '/v1'): OpenEventStream {
  const [method, template] = endpoints.readEventFeed;
  const path = template.replace('/v1', base);
  return async (query, { signal, idleTimeoutMs, attempt }) => {
    const request = { method, path, query, accept: 'text/event-stream' };
    const { url, init } = prepare(request);
    const info = { method, url, attempt, idempotencyKey: undefined };
    const opened = await attemptOnce(info, init, { signal, read });
    if ('cause' in opened) throw signal.aborted ? signal.reason : unreachable(request, opened.cause).error;
    const { answer } = opened;
    if (isRedirect(answer)) throw redirected(request, answer, url);
    if (answer.status >= 400) throw errorResponse(answer).error;
    if (answer.body === null) throw notAStream(path, answer.headers);
    return readEvents(answer.body, idleTimeoutMs, signal);
  };
}

/** Leaves a stream unread. */
async function read(response: Response) {
  const { status, headers, body } = response;
  const bytes = new Uint8Array(status >= 400 ? await response.arrayBuffer() : new ArrayBuffer(0));
  if (status === 200 && isEventStream(headers)) return { status, headers, bytes, body };
  if (status < 400) await body?.cancel();
  return { status, headers, bytes, body: null };
}

function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
}

function notAStream(path: string, headers: Headers): SimplaneError {
  const type = headers.get('content-type') ?? 'no content type';
  return new SimplaneError(
    `GET ${path} answered with ${type} instead of a stream. Check the base URL. If a proxy in between cannot stream, use { transport: 'poll' }.`,
  );
}

async function* readEvents(
  body: ReadableStream<Uint8Array>,
  idleTimeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const parse = createEventParser();
  try {
    for (;;) {
      const { done, value } = await readChunk(reader, idleTimeoutMs, signal);
      if (done) return;
      yield* parse(value);
    }
  } finally {
    reader.cancel().catch(() => {}); // closes the connection; rejects if it is already broken
  }
}

type Chunk = Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>['read']>>;

/** Does not rely on `fetch` to end a pending read: neither when it is aborted nor when the connection is dead. */
function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  idleTimeoutMs: number,
  signal: AbortSignal,
): Promise<Chunk> {
  return new Promise<Chunk>((resolve, reject) => {
    const fail = (reason: string, cause?: unknown) =>
      reject(new ConnectionError(`The event stream ${reason}.`, { cause }));
    const timer = startTimer(() => fail(`sent nothing for ${idleTimeoutMs} ms`), idleTimeoutMs);
    const onAbort = () => reject(signal.reason);
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    reader
      .read()
      .then(resolve, (cause) => fail('broke off', cause))
      .finally(end);
  });
}
