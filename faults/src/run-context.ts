import type { Deployment } from './deployment/deployment.ts';
import type { History } from './history/history.ts';
import type { Plan } from './plan.ts';

/** Shared state of one run. */
export type RunContext = {
  plan: Plan;
  deployment: Deployment;
  history: History;
  /** Finished operations and started faults: customers and faults wait for each other, not for time. */
  progress: { operations: number; faults: number };
  /** How long a client waits for an answer before it retries at another process. */
  answerTimeoutMs: number;
  /** After this time the run itself has failed. */
  deadlineMs: number;
  /** Returns a name that is unique in the run. */
  newName(kind: string): string;
};

/** The run itself failed; this is not a violation by the service. */
export class HarnessFailure extends Error {
  override name = 'HarnessFailure';
}
