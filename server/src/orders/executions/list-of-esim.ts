/** For the timeline, which merges them with the eSIM's events. */

export type { ExecutionRow } from './sql/executions.ts';
export { listRowsOfEsim as listExecutionsOfEsim } from './sql/executions.ts';
