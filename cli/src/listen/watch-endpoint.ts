import type { Simplane, WebhookEndpoint } from '@simplane/sdk';

// Several checks: the service records an attempt some time after our answer, and no later failure may trigger another.
const checkDelaysMs = [500, 1_500, 5_000, 15_000];

/** After a failure, checks whether the service disabled the endpoint; otherwise `listen` would just receive nothing. */
export function watchEndpoint(
  client: Simplane,
  id: string,
  { signal, onDisabled }: { signal: AbortSignal; onDisabled: (endpoint: WebhookEndpoint) => void },
): { failed(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isReported = false;
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  async function check(): Promise<void> {
    const endpoint = await client.webhookEndpoints.get(id, { signal });
    if (endpoint.status === 'disabled' && !isReported) onDisabled(endpoint);
    isReported = endpoint.status === 'disabled';
  }

  function scheduleCheck(round: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A failed check is retried too.
      const next = () => {
        if (!isReported && !signal.aborted && round + 1 < checkDelaysMs.length) scheduleCheck(round + 1);
      };
      check().then(next, next);
    }, checkDelaysMs[round]);
  }

  return {
    failed() {
      if (!signal.aborted) scheduleCheck(0);
    },
  };
}
