import type { History } from '../history/history.ts';

/** A broken guarantee. `about` has the ids and keys to search for in the history. */
export type Violation = { about: string[]; what: string };

/** Checks one guarantee; a pure function of the history. */
export type Check = (history: History) => Violation[];
