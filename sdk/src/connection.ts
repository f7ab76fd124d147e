import { type Attempted, attempt } from './attempt.ts';
import { callHook, type HookRequest, type Hooks } from './hooks.ts';
import { type PreparedRequest, type Request, requestBuilder } from './prepare-request.ts';

/** A local sandbox. */
export const defaultBaseUrl = 'http://127.0.0.1:4000';

export type SimplaneOptions = Hooks & {
  /** `sp_test_…` for a sandbox, `sp_live_…` for a live deployment. */
  apiKey: string;
  /** The account that an operator's key reads. Keys of an account leave it out. */
  serviceAccount?: string | undefined;
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

type Read<Answer> = {
  signal: AbortSignal;
  /** Added to the timeout of the attempt. */
  heldMs?: number;
  /** Reads the response within the timeout. */
  read: (response: Response) => Promise<Answer>;
};

/** What all requests to one deployment share. */
export type Connection = {
  prepare: (request: Request, idempotencyKey?: string) => PreparedRequest;
  /** Makes one attempt and reports it to the hooks. Never throws. */
  attemptOnce<Answer extends { status: number; headers: Headers }>(
    info: HookRequest,
    init: RequestInit,
    read: Read<Answer>,
  ): Promise<Attempted<Answer>>;
};

export function createConnection(settings: SimplaneOptions): Connection {
  const { apiKey, baseUrl = defaultBaseUrl, attemptTimeoutMs = 20_000, onRequest, onResponse } = settings;
  const fetch = settings.fetch ?? globalThis.fetch.bind(globalThis);
  return {
    prepare: requestBuilder(apiKey, baseUrl, settings.serviceAccount),
    async attemptOnce(info, init, { signal: outer, heldMs = 0, read }) {
      callHook(onRequest, { ...info });
      const startMs = performance.now();
      const attempted = await attempt(attemptTimeoutMs + heldMs, outer, async (signal) =>
        read(await fetch(info.url, { ...init, signal })),
      );
      const { answer, cause } = { answer: undefined, cause: undefined, ...attempted };
      callHook(onResponse, {
        ...info,
        status: answer?.status,
        requestId: answer?.headers.get('request-id') ?? undefined,
        durationMs: performance.now() - startMs,
        error: cause,
      });
      return attempted;
    },
  };
}
