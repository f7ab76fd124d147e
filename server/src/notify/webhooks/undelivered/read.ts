import { undeliveredLimit } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import { unixSeconds } from '../../../platform/clock.ts';
import { isTimeout } from '../../../platform/db/unavailable.ts';
import { countUndelivered, type UndeliveredCount } from './sql.ts';

// As for every filter: a list with an index takes milliseconds.
const maxMs = 2_000;

type Wanted = {
  fromEvent?: string | undefined;
  untilEvent?: string | undefined;
  types?: string[] | undefined;
};

/** Counts the undelivered events of an endpoint, the oldest up to a limit. */
export async function readUndelivered({ db, account }: Context, endpointUuid: string, wanted: Wanted) {
  const bounded: Pick<typeof db, 'query'> = {
    query: (statement, values) => db.queryWithin(maxMs, statement, values),
  };
  const key = { accountUuid: account.uuid, endpointUuid };
  const counts = await countUndelivered(bounded, key, { ...wanted, limit: undeliveredLimit }).catch(
    (error: unknown) => {
      throw isTimeout(error) ? tooBroad(error) : error;
    },
  );
  const count = counts.reduce((sum, one) => sum + one.count, 0);
  const oldestMs = counts.length === 0 ? null : Math.min(...counts.map((one) => one.oldest_ms));
  return {
    counts,
    count,
    oldest: oldestMs === null ? null : unixSeconds(oldestMs),
    isCapped: count === undeliveredLimit,
  };
}

/** By type, the most frequent first. */
export function addUp(counts: readonly Pick<UndeliveredCount, 'type' | 'count'>[]) {
  const sums = new Map<string, number>();
  for (const { type, count } of counts) sums.set(type, (sums.get(type) ?? 0) + count);
  return [...sums].map(([type, count]) => ({ type, count })).sort((a, b) => b.count - a.count);
}

function tooBroad(cause: unknown): AppError {
  const message = `Counting took more than ${maxMs / 1_000} s and was ended. Send fewer types, or a shorter time.`;
  return new AppError('query_too_broad', message, { cause });
}
