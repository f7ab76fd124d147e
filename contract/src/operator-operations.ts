import { listProcesses } from './operator/process.ts';

/** The operations of the deployment's operator, under `/v1/operator/`. Each needs the `operator` scope. */
export const operatorOperations = {
  listProcesses,
} as const;
