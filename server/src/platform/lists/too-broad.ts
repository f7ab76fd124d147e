import { AppError } from '../app-error.ts';

/** How many rows a page looks at if no index has exactly the filters' rows. 20,000 rows take 60 to 140 ms. */
export const maxSearched = 20_000;

/** For a page that was not full after that many rows. */
export function searchedEnough(): AppError {
  return new AppError(
    'query_too_broad',
    `Among the newest ${maxSearched.toLocaleString('en')} candidates, too few match all filters to fill a page. Send a shorter time with created[gte] and created[lt].`,
  );
}

/** How many types of events a filter may match. Only test events have types of their own: in live mode there are a few dozen. */
export const maxTypes = 1_000;

export function tooManyTypes(): AppError {
  return new AppError(
    'query_too_broad',
    `More than ${maxTypes.toLocaleString('en')} types of events match. Name fewer of them, or a smaller family.`,
    { param: 'type' },
  );
}
