type Failed = {
  /** Attempts so far, including the failed one. */
  attempts: number;
  scheduleMs: number[];
  /** The receiver's `Retry-After`, if it sent one. */
  retryAfterMs: number | null;
  /** From 0 to 1. */
  random: number;
};

const jitter = 0.2;

/**
 * The delay before the next attempt, or null if none is left. Jitter only adds, so no retry comes before its scheduled time.
 * `Retry-After` can lengthen a step, at most to the length of the next one.
 */
export function nextDelayMs({ attempts, scheduleMs, retryAfterMs, random }: Failed): number | null {
  const stepMs = scheduleMs[attempts - 1];
  if (stepMs === undefined) return null;
  const maxMs = Math.max(stepMs, scheduleMs[attempts] ?? stepMs);
  const wantedMs = Math.min(Math.max(stepMs, retryAfterMs ?? 0), maxMs);
  return Math.round(wantedMs * (1 + jitter * random));
}

/** Parses `Retry-After` per RFC 9110 §10.2.3: seconds or a date. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
