/**
 * The condition of every write of a worker, on a row of the queue: no later claim has raised the fence, and the lease was not
 * given back.
 */
export function isHeld(row: string, fence: string): string {
  return `${row}.fence = ${fence} and ${row}.leased_until is not null`;
}
