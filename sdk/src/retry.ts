import type { ErrorCode } from './generated.ts';

const firstDelayMs = 250;
const maxDelayMs = 8_000;
// A longer Retry-After is left to the caller: the error has the header.
const maxRetryAfterMs = 60_000;

type Answer = { status: number; code: ErrorCode | undefined; retryAfter: string | null };

/** Whether a retry can succeed. The idempotency key makes it safe. */
export function isWorthRetrying({ status, code, retryAfter }: Answer): boolean {
  if ((retryAfterMs(retryAfter) ?? 0) > maxRetryAfterMs) return false;
  return status >= 500 || status === 429 || status === 408 || code === 'idempotency_in_progress';
}

/** Honors Retry-After; otherwise exponential backoff with up to 50% jitter, so that clients do not retry in step. */
export function delayBefore(retry: number, retryAfter: string | null, random: number): number {
  const requestedMs = retryAfterMs(retryAfter);
  if (requestedMs !== null) return Math.min(requestedMs, maxRetryAfterMs);
  return Math.min(maxDelayMs, firstDelayMs * 2 ** (retry - 1)) * (1 - random / 2);
}

/** Parses seconds or an HTTP date; null if absent or invalid. */
export function retryAfterMs(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - Date.now());
}
