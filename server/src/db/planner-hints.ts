/**
 * A condition for statements that look given rows up in a table, on an integer column of those rows. It always holds; but the
 * planner takes it to hold for one row in two hundred, and so looks each row up by its key. Without it, a plan made while
 * the tables were empty read them whole for every batch, and was kept while they grew.
 */
export function oneByOne(integer: string): string {
  return `${integer} - ${integer} = 0`;
}

/**
 * A status, in a form that no partial index is made for. The few rows of a queue that a small index seems to promise are not
 * few when there is a backlog: with 6,000 pending, results were settled by reading all of them for each of 64 (370 ms).
 */
export function statusIs(column: string, status: string): string {
  return `${column} || '' = '${status}'`;
}
