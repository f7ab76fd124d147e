import { startTimer } from './start-timer.ts';

export type Attempted<Answer> = { answer: Answer } | { cause: unknown };

/** Makes one attempt, limited by its own timeout and the call's. Never throws. */
export async function attempt<Answer>(
  timeoutMs: number,
  outer: AbortSignal,
  send: (signal: AbortSignal) => Promise<Answer>,
): Promise<Attempted<Answer>> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = startTimer(() => controller.abort(new Error(`no response in ${timeoutMs} ms`)), timeoutMs);
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
