import type { Standing } from './lanes.ts';

export type AccountShares = {
  mayTake(accountUuid: string, standing: Exclude<Standing, 'proven'>): boolean;
  taken(accountUuid: string): void;
  freed(accountUuid: string): void;
};

/**
 * Which account may take one of the places for endpoints that have not proven themselves. An account may hold as many as
 * are free: alone it gets half of them, two get a third each, and some are always left for the next one. The last quarter
 * is for endpoints that were never tried, so those that fail, of however many accounts, never hold them up.
 */
export function createAccountShares(places: number): AccountShares {
  const heldBy = new Map<string, number>();
  const reserve = Math.floor(places / 4);
  let free = places;
  return {
    mayTake(accountUuid, standing) {
      const open = standing === 'untried' ? free : free - reserve;
      return open > 0 && (heldBy.get(accountUuid) ?? 0) < free;
    },
    taken(accountUuid) {
      free -= 1;
      heldBy.set(accountUuid, (heldBy.get(accountUuid) ?? 0) + 1);
    },
    freed(accountUuid) {
      free += 1;
      const left = (heldBy.get(accountUuid) ?? 0) - 1;
      if (left > 0) heldBy.set(accountUuid, left);
      else heldBy.delete(accountUuid);
    },
  };
}
