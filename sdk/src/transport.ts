import { apiErrorOf, ConnectionError, SimplaneError, TimeoutError } from './errors.ts';
import { currentApiVersion } from './generated.ts';
import { pause } from './pause.ts';
import { delayBefore, isWorthRetrying } from './retry.ts';

/** A local sandbox. */
export const defaultBaseUrl = 'http://127.0.0.1:4000';

export type SimplaneOptions = {
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

type Request = {
  method: string;
  path: string;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
  accept?: string;
};

/** A response, read completely. */
export type Answer = { status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> };

export type Transport = (request: Request, options?: CallOptions) => Promise<Answer>;

/** Sends requests and retries failures. All attempts of a write share one idempotency key, so it runs once. */
export function createTransport(settings: SimplaneOptions): Transport {
  const { apiKey, baseUrl = defaultBaseUrl, attemptTimeoutMs = 20_000 } = settings;
  if (!apiKey) throw new SimplaneError('An API key is required: createSimplane({ apiKey }).');
  const fetch = settings.fetch ?? globalThis.fetch.bind(globalThis);
  const base = baseOf(baseUrl);

  /** Builds the request once for all attempts, so that an invalid one fails without retries. */
  function prepare(request: Request, key: string | undefined): [url: string, init: RequestInit] {
    const headers = new Headers({
      Authorization: `Bearer ${apiKey}`,
      Accept: request.accept ?? 'application/json',
      'Service-Version': currentApiVersion,
      ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    });
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    // Following a redirect could send the API key to another server.
    const init: RequestInit = { method: request.method, headers, body, redirect: 'error' };
    return [base + request.path + queryOf(request.query), init];
  }

  return async (request, options = {}) => {
    const isWrite = request.method !== 'GET';
    const key = options.idempotencyKey ?? (isWrite ? crypto.randomUUID() : undefined);
    const timeoutMs = options.timeoutMs ?? settings.timeoutMs ?? 60_000;
    const maxRetries = options.maxRetries ?? settings.maxRetries ?? 4;
    const [url, init] = prepare(request, key);
    const deadline = startDeadline(timeoutMs, options.signal);
    try {
      for (let retry = 1; ; retry++) {
        const last = await attempt(attemptTimeoutMs, deadline.signal, async (signal) => {
          const response = await fetch(url, { ...init, signal });
          const { status, headers } = response;
          return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) };
        });
        if (deadline.signal.aborted && !('answer' in last)) throw abortError(deadline, timeoutMs, request);
        if ('answer' in last && last.answer.status < 400) return last.answer;
        const failure = 'answer' in last ? errorResponse(last.answer) : unreachable(request, last.cause);
        if (retry > maxRetries || !failure.isWorthRetrying) throw failure.error;
        const delayMs = delayBefore(retry, failure.retryAfter, Math.random());
        // Without time for another attempt, the API's error says more than a timeout would.
        if ('answer' in last && delayMs >= deadline.endMs - performance.now()) throw failure.error;
        if (await pause(delayMs, deadline.signal)) throw abortError(deadline, timeoutMs, request);
      }
    } finally {
      deadline.end();
    }
  };
}

function baseOf(baseUrl: string): string {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new SimplaneError(`baseUrl must be a URL such as https://api.example.com; got ${baseUrl}.`);
  }
  return baseUrl.replace(/\/+$/, '');
}

type Attempted = { answer: Answer } | { cause: unknown };

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

/** Parses the body as JSON; undefined if it is not JSON. */
export function readJson({ bytes }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function queryOf(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) => parametersOf(name, value));
  const text = new URLSearchParams(given).toString();
  return text === '' ? '' : `?${text}`;
}

/** An array is written as `name=a,b`, an object as `name[key]=value`. */
function parametersOf(name: string, value: unknown): [string, string][] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [[name, String(value)]];
  return Object.entries(value).map(([key, one]) => [`${name}[${key}]`, String(one)]);
}

type Deadline = { signal: AbortSignal; endMs: number; isTimedOut(): boolean; end(): void };

/** Combines the caller's signal with the timeout of the call. */
function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let isTimedOut = false;
  const timer = setTimeout(() => {
    isTimedOut = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = () => controller.abort(caller?.reason);
  if (caller?.aborted) onAbort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    endMs: performance.now() + timeoutMs,
    isTimedOut: () => isTimedOut,
    end() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
    },
  };
}

/** Makes one attempt, limited by its own timeout and the call's. Never throws. */
async function attempt(
  timeoutMs: number,
  outer: AbortSignal,
  send: (signal: AbortSignal) => Promise<Answer>,
): Promise<Attempted> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(() => controller.abort(new Error(`no response in ${timeoutMs} ms`)), timeoutMs);
  outer.addEventListener('abort', abort, { once: true });
  if (outer.aborted) abort();
  try {
    return { answer: await send(controller.signal) };
  } catch (cause) {
    return { cause };
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', abort);
  }
}

function abortError(deadline: Deadline, timeoutMs: number, { method, path }: Request): unknown {
  if (!deadline.isTimedOut()) return deadline.signal.reason; // the caller's reason, as with `fetch`
  return new TimeoutError(`${method} ${path} got no response in ${timeoutMs} ms.`);
}
