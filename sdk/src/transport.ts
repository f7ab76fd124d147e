import { type Answer, isRedirect, readJson } from './answer.ts';
import { attempt } from './attempt.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { type ApiError, apiErrorOf, ConnectionError, SimplaneError, TimeoutError } from './errors.ts';
import { callHook, type HookRequest, type Hooks } from './hooks.ts';
import { pause } from './pause.ts';
import { type Request, requestBuilder } from './prepare-request.ts';
import { delayBefore, isWorthRetrying } from './retry.ts';

/** A local sandbox. */
export const defaultBaseUrl = 'http://127.0.0.1:4000';

export type SimplaneOptions = Hooks & {
  /** `sp_test_…` for a sandbox, `sp_live_…` for a live deployment. */
  apiKey: string;
  /** URL of the deployment. Defaults to a local sandbox, `http://127.0.0.1:4000`. */
  baseUrl?: string | undefined;
  /** Replaces the global `fetch`: for proxies, tests and in-process calls. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Timeout of a call including all retries. Defaults to 60 s. */
  timeoutMs?: number | undefined;
  /** Timeout of one attempt, after which it is retried. Defaults to 20 s. */
  attemptTimeoutMs?: number | undefined;
  /** Maximum number of retries. Defaults to 4. */
  maxRetries?: number | undefined;
};

export type CallOptions = {
  /** Calls with the same key run once. Defaults to a random key for writes. */
  idempotencyKey?: string | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  signal?: AbortSignal | undefined;
};

export type Transport = (request: Request, options?: CallOptions) => Promise<Answer>;

/** Sends requests and retries failures. All attempts of a write share one idempotency key, so it runs once. */
export function createTransport(settings: SimplaneOptions): Transport {
  const { apiKey, baseUrl = defaultBaseUrl, attemptTimeoutMs = 20_000, onRequest, onResponse } = settings;
  const prepare = requestBuilder(apiKey, baseUrl);
  const fetch = settings.fetch ?? globalThis.fetch.bind(globalThis);

  /** Makes one attempt and reports it to the hooks. */
  async function attemptOnce(info: HookRequest, init: RequestInit, outer: AbortSignal) {
    callHook(onRequest, { ...info });
    const startMs = performance.now();
    const attempted = await attempt(attemptTimeoutMs, outer, async (signal) => {
      const response = await fetch(info.url, { ...init, signal });
      const { status, headers } = response;
      return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) };
    });
    const { answer, cause } = { answer: undefined, cause: undefined, ...attempted };
    callHook(onResponse, {
      ...info,
      status: answer?.status,
      requestId: answer?.headers.get('request-id') ?? undefined,
      durationMs: performance.now() - startMs,
      error: cause,
    });
    return attempted;
  }

  return async (request, options = {}) => {
    const isWrite = request.method !== 'GET';
    const idempotencyKey = options.idempotencyKey ?? (isWrite ? crypto.randomUUID() : undefined);
    const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? 60_000;
    const maxRetries = options.maxRetries ?? settings.maxRetries ?? 4;
    const { url, init } = prepare(request, idempotencyKey);
    const deadline = startDeadline(timeoutMs, options.signal);
    try {
      for (let retry = 1; ; retry++) {
        const info = { method: request.method, url, attempt: retry, idempotencyKey };
        const last = await attemptOnce(info, init, deadline.signal);
        if (deadline.signal.aborted && !('answer' in last)) throw abortError(deadline, timeoutMs, request);
        if ('answer' in last && isRedirect(last.answer)) throw redirected(request, last.answer, url);
        if ('answer' in last && last.answer.status < 400) return last.answer;
        const failure = 'answer' in last ? errorResponse(last.answer) : unreachable(request, last.cause);
        if (retry > maxRetries || !failure.isWorthRetrying) throw failure.error;
        const delayMs = delayBefore(retry, failure.retryAfter, Math.random());
        // Without time for another attempt, the API's error says more than a timeout would.
        if ('answer' in last && delayMs >= deadline.endMs - performance.now()) throw failure.error;
        if (await pause(delayMs, deadline.signal)) throw abortError(deadline, timeoutMs, request);
      }
    } catch (error) {
      if (error instanceof SimplaneError && idempotencyKey !== undefined)
        error.idempotencyKey = idempotencyKey;
      throw error;
    } finally {
      deadline.end();
    }
  };
}

type Failure = { error: SimplaneError; isWorthRetrying: boolean; retryAfter: string | null };

function errorResponse(answer: Answer): Failure {
  const error = apiErrorOf({ ...answer, body: readJson(answer) });
  const retryAfter = answer.headers.get('retry-after');
  const { status, code } = error;
  return { error, retryAfter, isWorthRetrying: isWorthRetrying({ status, code, retryAfter }) };
}

function unreachable({ method, path }: Request, cause: unknown): Failure {
  const reason = describe(cause);
  const error = new ConnectionError(
    `${method} ${path} got no response (${reason}). Check that the base URL is correct and the server is running.`,
    { cause },
  );
  return { error, isWorthRetrying: true, retryAfter: null };
}

/** `fetch` puts the reason in the error's cause. */
function describe(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? 'connection lost';
}

function redirected({ method, path }: Request, { status, headers }: Answer, url: string): ApiError {
  const location = headers.get('location');
  // Only the origin: the rest of the address may be secret.
  const target =
    location !== null && URL.canParse(location, url) ? ` to ${new URL(location, url).origin}` : '';
  const how = status === 0 ? '' : ` (HTTP ${status})`;
  const message =
    `${method} ${path} was redirected${target}${how}. The SDK follows no redirect, because another server could then get ` +
    'the API key. Set baseUrl to the address where the API itself answers.';
  return apiErrorOf({ status, headers, body: { error: { message } } });
}

function abortError(deadline: Deadline, timeoutMs: number, { method, path }: Request): unknown {
  if (!deadline.isTimedOut()) return deadline.signal.reason; // the caller's reason, as with `fetch`
  return new TimeoutError(`${method} ${path} got no response in ${timeoutMs} ms.`);
}
