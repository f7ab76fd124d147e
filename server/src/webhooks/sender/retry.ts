type Failed = {
  /** Counting this one. */
  attempts: number;
  scheduleMs: number[];
  /** What the receiver asked for, when it did. */
  retryAfterMs: number | null;
  /** From 0 to 1. */
  random: number;
};

const jitter = 0.2;

/**
 * When to try again, or null when no attempt is left. Jitter only adds, so that the schedule's promise holds; a receiver's
 * `Retry-After` lengthens a step, at most to the next one.
 */
export function nextDelayMs({ attempts, scheduleMs, retryAfterMs, random }: Failed): number | null {
  const stepMs = scheduleMs[attempts - 1];
  if (stepMs === undefined) return null;
  const longestMs = Math.max(stepMs, scheduleMs[attempts] ?? stepMs);
  const wantedMs = Math.min(Math.max(stepMs, retryAfterMs ?? 0), longestMs);
  return Math.round(wantedMs * (1 + jitter * random));
}

/** `Retry-After` as RFC 9110 §10.2.3 has it: seconds, or a date. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value) * 1000;
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
