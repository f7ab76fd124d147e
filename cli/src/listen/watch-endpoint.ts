import type { Simplane, WebhookEndpoint } from '@simplane/sdk';

// The service settles an attempt after it has our answer; one question serves a burst of failures.
const pauseMs = 500;

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
    timer = undefined;
    const endpoint = await client.webhookEndpoints.get(id, { signal });
    if (endpoint.status === 'disabled' && !isTold) onDisabled(endpoint);
    isTold = endpoint.status === 'disabled';
  }

  return {
    failed() {
      if (signal.aborted) return;
      // A service that does not answer now is asked again after the next failure.
      timer ??= setTimeout(() => void look().catch(() => {}), pauseMs);
    },
  };
}
