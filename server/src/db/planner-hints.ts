/**
 * Always true, on an integer column of the given rows. The planner estimates that it holds for one row in 200, so it looks
 * each row up by key. Without it, a plan prepared while the tables were empty scans them whole for every batch, and is kept
 * while they grow.
 */
export function forceKeyLookup(integer: string): string {
  return `${integer} - ${integer} = 0`;
}

/**
 * A status check that cannot match a partial index. The planner expects few rows in a queue's partial index; with a backlog
 * there are many: with 6,000 pending deliveries, settling 64 results read all of them for each result (370 ms).
 */
export function statusWithoutPartialIndex(column: string, status: string): string {
  return `${column} || '' = '${status}'`;
}
