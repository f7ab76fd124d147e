import type { ErrorCode } from './generated.ts';

const firstDelayMs = 250;
const longestDelayMs = 8_000;
// Longer than this is for the caller to decide: the error says how long.
const longestRetryAfterMs = 60_000;

type Answer = { status: number; code: ErrorCode | undefined; retryAfter: string | null };

/** Whether another attempt may go better: the same key makes it safe. */
export function isWorthRetrying({ status, code, retryAfter }: Answer): boolean {
  if ((retryAfterMs(retryAfter) ?? 0) > longestRetryAfterMs) return false;
  return status >= 500 || status === 429 || status === 408 || code === 'idempotency_in_progress';
}

/** What the service asks for, or twice as long each time, less up to half so that many clients do not come back at once. */
export function delayBefore(retry: number, retryAfter: string | null, random: number): number {
  const asked = retryAfterMs(retryAfter);
  if (asked !== null) return Math.min(asked, longestRetryAfterMs);
  return Math.min(longestDelayMs, firstDelayMs * 2 ** (retry - 1)) * (1 - random / 2);
}

/** Seconds or a date, as HTTP has it; null when there is none that can be read. */
function retryAfterMs(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
