import type { OperatorExecution } from '@simplane/sdk';

type Waiting = Pick<OperatorExecution, 'attempts' | 'created' | 'last_error'>;

// Workers take new orders within seconds.
const usualSeconds = 30;

/** Why an open order waits and what an operator can do. */
export function whyWaiting({ attempts, created, last_error: last }: Waiting, nowSeconds: number): string {
  if (last)
    return attempts > 1
      ? `${attempts} attempts failed; the next one is automatic. Fix the cause, then retry it now.`
      : 'The first attempt failed; the next one is automatic.';
  if (attempts > 0) return 'Its worker ended; another one continues it.';
  if (nowSeconds - created < usualSeconds) return 'It was accepted just now.';
  return 'No worker has taken it. Check that workers run and that the network is not paused.';
}
