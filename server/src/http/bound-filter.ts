import { isPaging } from '@simplane/contract';
import { AppError } from '../platform/app-error.ts';
import type { Database } from '../platform/db/database.ts';
import { isTimeout } from '../platform/db/unavailable.ts';
import type { ObjectSchema } from './validate.ts';

// After that, `query_too_broad`. A list with an index takes milliseconds.
const maxFilterMs = 2_000;

type Query = Record<string, unknown>;
type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/** Whether a list or look-up is asked for a part only. */
export function isFiltered(query: Query): boolean {
  return Object.keys(query).some((name) => !isPaging(name));
}

/** The database for filters: a statement gets its turn, and is ended after 2 s and refused with a narrower filter. */
export function boundFilter(db: Database, inTurn: InTurn, schema: ObjectSchema, query: Query): Database {
  return {
    ...db,
    async query(statement, values) {
      try {
        return await inTurn(() => db.queryWithin(maxFilterMs, statement, values));
      } catch (error) {
        throw isTimeout(error) ? tooBroad(schema, query, error) : error;
      }
    },
  };
}

function tooBroad(schema: ObjectSchema, query: Query, cause: unknown): AppError {
  const given = Object.keys(query).filter((name) => !isPaging(name));
  const several = given.find((name) => Array.isArray(query[name]));
  const others = Object.keys(schema.properties).filter((name) => !isPaging(name) && !(name in query));
  const advice = [
    ...('created[gte]' in schema.properties ? ['a shorter time with created[gte] and created[lt]'] : []),
    ...(several === undefined ? [] : [`fewer values of ${several}`]),
    ...others.filter((name) => !name.startsWith('created[')).map((name) => `a value of ${name}`),
  ];
  const message = `The search took more than ${maxFilterMs / 1_000} s and was ended. Send ${advice.join(', or ') || 'a narrower filter'}.`;
  return new AppError('query_too_broad', message, { param: given[0] as string, cause });
}
