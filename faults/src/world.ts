import type { Deployment } from './deployment/deployment.ts';
import type { History } from './history/history.ts';
import type { Plan } from './plan.ts';

/** What drives a run has in hand. */
export type World = {
  plan: Plan;
  deployment: Deployment;
  history: History;
  /** Operations that customers have ended and faults that have begun: each side waits for the other, not for time. */
  progress: { ended: number; begun: number };
  /** How long a client waits for an answer before it asks elsewhere. */
  patienceMs: number;
  /** When to stop hoping: beyond it the run itself has failed. */
  giveUpAtMs: number;
  /** A name that is given once in a run. */
  newName(kind: string): string;
};

/** The run could not be carried out; this says nothing about the service. */
export class HarnessFailure extends Error {
  override name = 'HarnessFailure';
}
