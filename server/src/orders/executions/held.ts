/**
 * The condition of every write by a worker, on a queue row: no later claim has incremented the fence, and the lease was not
 * released.
 */
export function isHeld(row: string, fence: string): string {
  return `${row}.fence = ${fence} and ${row}.leased_until is not null`;
}
