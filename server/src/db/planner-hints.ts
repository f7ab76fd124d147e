/**
 * Always true. The planner estimates that it holds for one row in 200, so it looks up each row by key. Without it, a plan
 * prepared while the tables were empty scans them completely for every batch, even after they have grown.
 */
export function forceKeyLookup(integer: string): string {
  return `${integer} - ${integer} = 0`;
}

/**
 * A status check that cannot match a partial index. The planner expects few rows in a queue's partial index, but a backlog has
 * many: with 6,000 pending deliveries, settling 64 results read all of them for each result (370 ms).
 */
export function statusWithoutPartialIndex(column: string, status: string): string {
  return `${column} || '' = '${status}'`;
}
