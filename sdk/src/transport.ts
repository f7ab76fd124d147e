import { type Answer, isRedirect } from './answer.ts';
import type { Connection, SimplaneOptions } from './connection.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { SimplaneError, TimeoutError } from './errors.ts';
import { errorResponse, isRefused, redirected, unreachable } from './failure.ts';
import { pause } from './pause.ts';
import type { Request } from './prepare-request.ts';
import { delayBefore } from './retry.ts';

// The API takes up to 30 s.
const maxHeldMs = 60_000;

export type CallOptions = {
  /** Calls with the same key run once. Defaults to a random key for writes. */
  idempotencyKey?: string | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type Transport = <Result>(
  request: Request,
  options: CallOptions | undefined,
  /** Its errors too carry the key of the write. */
  parse: (answer: Answer) => Result,
) => Promise<Result>;

/** Sends requests and retries failures. All attempts of a write share one idempotency key, so it runs once. */
export function createTransport(settings: SimplaneOptions, { prepare, attemptOnce }: Connection): Transport {
  return async (request, options = {}, parse) => {
    const isWrite = request.method !== 'GET';
    const idempotencyKey = options.idempotencyKey ?? (isWrite ? crypto.randomUUID() : undefined);
    const heldMs = heldMsOf(request);
    const timeoutMs = options.timeoutMs ?? (settings.timeoutMs ?? 60_000) + heldMs;
    const maxRetries = options.maxRetries ?? settings.maxRetries ?? 4;
    const { url, init } = prepare(request, idempotencyKey);
    const deadline = startDeadline(timeoutMs, options.signal);
    let mayHaveTakenEffect = false;
    try {
      for (let retry = 1; ; retry++) {
        const info = { method: request.method, url, attempt: retry, idempotencyKey };
        const last = await attemptOnce(info, init, { signal: deadline.signal, heldMs, read });
        // Once lost, an attempt may still arrive, whatever the answers to later ones say.
        mayHaveTakenEffect ||= isWrite && !('answer' in last && isRefused(last.answer));
        if (deadline.signal.aborted && !('answer' in last)) throw abortError(deadline, timeoutMs, request);
        if ('answer' in last && isRedirect(last.answer)) throw redirected(request, last.answer, url);
        if ('answer' in last && last.answer.status < 400) return parse(last.answer);
        const failure = 'answer' in last ? errorResponse(last.answer) : unreachable(request, last.cause);
        if (retry > maxRetries || !failure.isWorthRetrying) throw failure.error;
        const delayMs = delayBefore(retry, failure.retryAfter, Math.random());
        // Without time for another attempt, the API's error says more than a timeout would.
        if ('answer' in last && delayMs >= deadline.endMs - performance.now()) throw failure.error;
        if (await pause(delayMs, deadline.signal)) throw abortError(deadline, timeoutMs, request);
      }
    } catch (error) {
      if (error instanceof SimplaneError && idempotencyKey !== undefined)
        Object.assign(error, { idempotencyKey, mayHaveTakenEffect });
      throw error;
    } finally {
      deadline.end();
    }
  };
}

async function read(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** How long the server may hold back its answer because the request asks it to wait for an event. */
function heldMsOf({ query }: Request): number {
  const waitMs = Number(query?.['wait'] ?? 0) * 1_000;
  return waitMs > 0 ? Math.min(waitMs, maxHeldMs) : 0;
}

function abortError(deadline: Deadline, timeoutMs: number, { method, path }: Request): unknown {
  if (!deadline.isTimedOut()) return deadline.signal.reason; // the caller's reason, as with `fetch`
  return new TimeoutError(`${method} ${path} got no response in ${timeoutMs} ms.`);
}
