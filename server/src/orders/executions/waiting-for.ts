import { waitingForWorker } from '@simplane/contract';

/**
 * Why an open execution waits, in words for the account that ordered: cause and remedy, and no host, setting or other account.
 * `postpone` stores the cause in the execution's progress; the first two follow from the row itself.
 */
const causes = {
  worker: waitingForWorker,
  takeover:
    'It was interrupted and continues automatically. If it still waits after a few minutes, tell the operator.',
  network:
    'The network failed or did not answer. The next attempt is automatic; if attempts keep failing, ask the operator about the network.',
  internal:
    'An internal error interrupted it. The next attempt is automatic; if attempts keep failing, give the operator the id of the execution.',
} as const;

export type WaitingCause = keyof typeof causes;

/** A newer release may have stored a cause that this one does not know. */
export function describeWaiting(cause: string): string {
  return Object.hasOwn(causes, cause) ? causes[cause as WaitingCause] : causes.worker;
}
