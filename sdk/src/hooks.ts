/** One attempt of a call. It contains neither the API key nor a body, so it can be logged. */
export type HookRequest = {
  method: string;
  url: string;
  /** 1 for the first attempt, 2 for the first retry. */
  attempt: number;
  idempotencyKey: string | undefined;
};

/** The outcome of one attempt. */
export type HookResponse = HookRequest & {
  /** HTTP status; undefined if there was no response. */
  status: number | undefined;
  /** Quote it to the operator. */
  requestId: string | undefined;
  durationMs: number;
  /** Why there was no response. */
  error: unknown;
};

export type Hooks = {
  /** Called before every attempt, for logs and metrics. It is not awaited, and its errors are ignored. */
  onRequest?: ((info: HookRequest) => unknown) | undefined;
  /** Called after every attempt, also if there was no response. It is not awaited, and its errors are ignored. */
  onResponse?: ((info: HookResponse) => unknown) | undefined;
};

/** Calls the hook now. A failing hook must not fail a write that has succeeded, so its errors are dropped. */
export function callHook<Info>(hook: ((info: Info) => unknown) | undefined, info: Info): void {
  try {
    Promise.resolve(hook?.(info)).catch(() => {});
  } catch {}
}
