import { apiErrorOf, ConnectionError, SimplaneError, TimeoutError } from './errors.ts';
import { currentApiVersion } from './generated.ts';
import { pause } from './pause.ts';
import { delayBefore, isWorthRetrying } from './retry.ts';

/** The sandbox on this machine. */
export const defaultBaseUrl = 'http://127.0.0.1:4000';

export type SimplaneOptions = {
  /** `sp_test_…` for a sandbox, `sp_live_…` for a live deployment. */
  apiKey: string;
  /** Where the deployment is; the sandbox on this machine when left out. */
  baseUrl?: string | undefined;
  /** Instead of the platform's own: for proxies, tests, and calls inside the server. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** How long a call may take with all its retries; 60 s when left out. */
  timeoutMs?: number | undefined;
  /** How long one attempt may take before it is given up and repeated; 20 s when left out. */
  attemptTimeoutMs?: number | undefined;
  /** How often an attempt that may go better is repeated; 4 when left out. */
  maxRetries?: number | undefined;
};

/** What any call may be given. */
export type CallOptions = {
  /** Makes the call the same one as an earlier call with this key. Writes that are given none get a random one. */
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

/** One answer, read to its end. */
export type Answer = { status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> };

export type Transport = (request: Request, options?: CallOptions) => Promise<Answer>;

/** Sends requests and repeats what may go better. A write keeps its idempotency key from one attempt to the next: it is done once. */
export function createTransport(settings: SimplaneOptions): Transport {
  const { apiKey, baseUrl = defaultBaseUrl, attemptTimeoutMs = 20_000 } = settings;
  if (!apiKey) throw new SimplaneError('An API key is needed: createSimplane({ apiKey }).');
  const fetch = settings.fetch ?? globalThis.fetch.bind(globalThis);
  const base = baseOf(baseUrl);

  /** What every attempt of a call sends. It is made once: what cannot be sent is not tried five times. */
  function prepare(request: Request, key: string | undefined): [url: string, init: RequestInit] {
    const headers = new Headers({
      Authorization: `Bearer ${apiKey}`,
      Accept: request.accept ?? 'application/json',
      'Service-Version': currentApiVersion,
      ...(request.body !== undefined && { 'Content-Type': 'application/json' }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    });
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    // A redirect would carry the key elsewhere.
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
        const last = await bounded(attemptTimeoutMs, deadline.signal, async (signal) => {
          const response = await fetch(url, { ...init, signal });
          const { status, headers } = response;
          return { status, headers, bytes: new Uint8Array(await response.arrayBuffer()) };
        });
        if (deadline.signal.aborted && !('answer' in last)) throw endedBy(deadline, timeoutMs, request);
        if ('answer' in last && last.answer.status < 400) return last.answer;
        const failure = 'answer' in last ? refusal(last.answer) : unreachable(request, last.cause);
        if (retry > maxRetries || !failure.isWorthRetrying) throw failure.error;
        const delayMs = delayBefore(retry, failure.retryAfter, Math.random());
        // No time is left for another attempt: what the service said tells more than that. Where it said nothing, the time is the reason.
        if ('answer' in last && delayMs >= deadline.endMs - performance.now()) throw failure.error;
        if (await pause(delayMs, deadline.signal)) throw endedBy(deadline, timeoutMs, request);
      }
    } finally {
      deadline.end();
    }
  };
}

function baseOf(baseUrl: string): string {
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new SimplaneError(`baseUrl must be an address such as https://api.example.com; got ${baseUrl}.`);
  }
  return baseUrl.replace(/\/+$/, '');
}

type Attempted = { answer: Answer } | { cause: unknown };

type Failure = { error: SimplaneError; isWorthRetrying: boolean; retryAfter: string | null };

function refusal(answer: Answer): Failure {
  const error = apiErrorOf({ ...answer, body: readJson(answer) });
  const retryAfter = answer.headers.get('retry-after');
  const { status, code } = error;
  return { error, retryAfter, isWorthRetrying: isWorthRetrying({ status, code, retryAfter }) };
}

function unreachable({ method, path }: Request, cause: unknown): Failure {
  const reason = describe(cause);
  const error = new ConnectionError(
    `${method} ${path} got no answer (${reason}). Is the base URL right, and the service up?`,
    { cause },
  );
  return { error, isWorthRetrying: true, retryAfter: null };
}

/** The reason that `fetch` hides in its cause. */
function describe(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.code ?? cause?.message ?? message ?? 'connection lost';
}

/** The body as JSON; undefined when it is none. */
export function readJson({ bytes }: Answer): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function queryOf(query: Record<string, unknown> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

type Deadline = { signal: AbortSignal; endMs: number; isTimeOver(): boolean; end(): void };

/** One signal for the caller's own and for the time that the call has. */
function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let isTimeOver = false;
  const timer = setTimeout(() => {
    isTimeOver = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = () => controller.abort(caller?.reason);
  if (caller?.aborted) onAbort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    endMs: performance.now() + timeoutMs,
    isTimeOver: () => isTimeOver,
    end() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
    },
  };
}

/** Makes one attempt that ends after its own time or with the call's. Never throws. */
async function bounded(
  timeoutMs: number,
  outer: AbortSignal,
  make: (signal: AbortSignal) => Promise<Answer>,
): Promise<Attempted> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(() => controller.abort(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  outer.addEventListener('abort', abort, { once: true });
  if (outer.aborted) abort();
  try {
    return { answer: await make(controller.signal) };
  } catch (cause) {
    return { cause };
  } finally {
    clearTimeout(timer);
    outer.removeEventListener('abort', abort);
  }
}

function endedBy(deadline: Deadline, timeoutMs: number, { method, path }: Request): unknown {
  if (!deadline.isTimeOver()) return deadline.signal.reason; // the caller's own, as `fetch` does it
  return new TimeoutError(`${method} ${path} was not answered in ${timeoutMs} ms.`);
}
