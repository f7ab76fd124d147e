import type { Sent } from './history.ts';

/** Whether the client knows now what became of its request. If not, it asks again with the same key. */
export function isAnswer({ status, text }: Sent): boolean {
  // 408: a process that was frozen takes a request that it finds on waking for one that came too slowly.
  if (status === null || status === 408 || status >= 500) return false;
  return !(status === 409 && text.includes('"idempotency_in_progress"'));
}
