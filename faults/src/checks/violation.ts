import type { History } from '../history/history.ts';

/** A promise that was not kept. `about` are the ids and keys to look for in the history. */
export type Violation = { about: string[]; what: string };

/** One guarantee: a pure function of what was seen. */
export type Check = (history: History) => Violation[];
