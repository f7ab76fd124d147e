import type { Simplane, WebhookEndpoint } from '@simplane/sdk';

// The service settles an attempt some time after it has our answer, and the last one has no failure after it to ask again.
const pausesMs = [500, 1_500, 5_000, 15_000];

/** After a failure, looks whether that was one too many: an endpoint that was disabled would otherwise just fall silent. */
export function watchEndpoint(
  client: Simplane,
  id: string,
  { signal, onDisabled }: { signal: AbortSignal; onDisabled: (endpoint: WebhookEndpoint) => void },
): { failed(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isTold = false;
  signal.addEventListener('abort', () => clearTimeout(timer), { once: true });

  async function look(): Promise<void> {
    const endpoint = await client.webhookEndpoints.get(id, { signal });
    if (endpoint.status === 'disabled' && !isTold) onDisabled(endpoint);
    isTold = endpoint.status === 'disabled';
  }

  function lookLater(round: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      // A service that does not answer now is asked again later.
      const next = () => {
        if (!isTold && !signal.aborted && round + 1 < pausesMs.length) lookLater(round + 1);
      };
      look().then(next, next);
    }, pausesMs[round]);
  }

  return {
    failed() {
      if (!signal.aborted) lookLater(0);
    },
  };
}
