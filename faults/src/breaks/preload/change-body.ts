// Adds a space to every event body that is read from the database.
import pg from 'pg';

type Result = { rows?: { body?: unknown }[] };
type Callback = (error: Error | null, result: Result) => void;
type Query = (...args: unknown[]) => unknown;

const prototype = pg.Client.prototype as unknown as { query: Query };
const { query } = prototype;

function change(result: Result): Result {
  for (const row of result?.rows ?? []) {
    if (typeof row.body === 'string' && row.body.startsWith('{"id":"evt_')) row.body = `${row.body} `;
  }
  return result;
}

/** The pool calls query with a callback, a transaction with a promise. */
prototype.query = function (...args) {
  const last = args.at(-1);
  if (typeof last !== 'function') {
    const result = query.apply(this, args);
    return result instanceof Promise ? result.then(change) : result;
  }
  const changed: Callback = (error, result) => (last as Callback)(error, change(result));
  return query.apply(this, [...args.slice(0, -1), changed]);
};
