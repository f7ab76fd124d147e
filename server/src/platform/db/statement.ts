import type { Queryable } from './database.ts';

/**
 * Statements as values. The text may hold pieces of SQL, never a value from outside; values are `$1`, `$2`, …: the arguments in
 * their order, or what `values` makes of them.
 *
 *   export const findEvent = one<EventRow, [accountUuid: string, uuid: string]>('example_find')`select …`;
 *   const event = await findEvent(db, accountUuid, uuid);
 */
type Text<Args extends unknown[], Result> = (
  text: TemplateStringsArray,
  ...pieces: (string | number)[]
) => (db: Queryable, ...args: Args) => Promise<Result>;
type Values<Args extends unknown[]> = (...args: Args) => unknown[];

/** Returns all rows. */
export function many<Row extends object, Args extends unknown[] = []>(
  name: string,
  values?: Values<Args>,
): Text<Args, Row[]> {
  return reading(name, values, (rows: Row[]) => rows);
}

/** Returns the first row, or null. */
export function one<Row extends object, Args extends unknown[] = []>(
  name: string,
  values?: Values<Args>,
): Text<Args, Row | null> {
  return reading(name, values, ([row]: Row[]) => row ?? null);
}

/** Returns the only column of the first row, or null if there is no row. */
export function value<Value, Args extends unknown[] = []>(
  name: string,
  values?: Values<Args>,
): Text<Args, Value | null> {
  return reading(name, values, ([row]: object[]) => (row ? Object.values(row)[0] : null));
}

/** Returns the only column of the only row. For a statement that always has one, such as a total. */
export function single<Value, Args extends unknown[] = []>(
  name: string,
  values?: Values<Args>,
): Text<Args, Value> {
  return reading(name, values, ([row]: object[]) => Object.values(row as object)[0]);
}

/** Returns the only column of all rows. */
export function list<Value, Args extends unknown[] = []>(
  name: string,
  values?: Values<Args>,
): Text<Args, Value[]> {
  return reading(name, values, (rows: object[]) => rows.map((row) => Object.values(row)[0]));
}

/** Returns whether there is a row. A write returns rows only if it says so, with `returning 1`. */
export function exists<Args extends unknown[] = []>(
  name: string,
  values?: Values<Args>,
): Text<Args, boolean> {
  return reading(name, values, (rows: object[]) => rows.length > 0);
}

/** Returns how many rows there are. */
export function count<Args extends unknown[] = []>(name: string, values?: Values<Args>): Text<Args, number> {
  return reading(name, values, (rows: object[]) => rows.length);
}

/** Returns nothing. */
export function run<Args extends unknown[] = []>(name: string, values?: Values<Args>): Text<Args, void> {
  return reading(name, values, () => {});
}

function reading<Row extends object, Args extends unknown[], Result>(
  name: string,
  values: Values<Args> = (...args) => args,
  read: (rows: Row[]) => Result,
): Text<Args, Result> {
  return (strings, ...pieces) => {
    const statement = { name, text: String.raw({ raw: strings }, ...pieces) };
    return async (db, ...args) => read(await db.query<Row>(statement, values(...args)));
  };
}
