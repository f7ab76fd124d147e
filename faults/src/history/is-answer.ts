import type { Sent } from './history.ts';

/** Whether the answer tells the client the outcome. If not, it retries with the same key. */
export function isAnswer({ status, text }: Sent): boolean {
  // 408: after a freeze, a process treats a request that was waiting as one sent too slowly.
  // 421: its account was just moved to another cell, and the router does not know yet.
  if (status === null || status === 408 || status === 421 || status >= 500) return false;
  return !(status === 409 && text.includes('"idempotency_in_progress"'));
}
