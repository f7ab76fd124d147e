/** For the timeline, which merges them with the eSIM's events. */
export { listRowsOfEsim as listExecutionsOfEsim } from './sql/list-of-esim.ts';
export type { ExecutionRow } from './sql/rows.ts';
