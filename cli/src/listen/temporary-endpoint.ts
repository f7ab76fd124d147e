import { hostname } from 'node:os';
import { ApiError, type Simplane, type WebhookEndpoint } from '@simplane/sdk';

/** The removed endpoints; or the one that may still exist, and why. */
export type Removal =
  | { isRemoved: true; ids: string[] }
  | { isRemoved: false; id: string | null; why: string };

export type TemporaryEndpoint = {
  created: Promise<WebhookEndpoint>;
  /** With `isRemoved`, no endpoint is left even if the create response was lost. */
  remove(deadline: AbortSignal): Promise<Removal>;
};

/** Metadata key on every endpoint that `listen` creates; its value is this machine's hostname. */
const listenTag = 'simplane_listen';
// Only these URLs are probed or removed, whatever an endpoint's metadata says.
const listenUrl = /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/;

export function createTemporaryEndpoint(
  client: Simplane,
  { url, events }: { url: string; events: string[] },
): TemporaryEndpoint {
  const abandoned = new AbortController();
  const created = client.webhookEndpoints.create(
    {
      url,
      enabled_event_types: events,
      description: 'Temporary: created by `simplane listen`, removed when it stops',
      metadata: { [listenTag]: hostname() },
    },
    { signal: abandoned.signal },
  );
  created.catch(() => {}); // avoids an unhandled rejection before anyone awaits it
  return {
    created,
    async remove(deadline) {
      deadline.addEventListener('abort', () => abandoned.abort(), { once: true });
      const outcome = await created.then(
        ({ id }) => ({ id }),
        (error: unknown) => ({ error }),
      );
      if ('error' in outcome && wasRefused(outcome.error)) return { isRemoved: true, ids: [] };
      const id = 'id' in outcome ? outcome.id : null;
      try {
        // With no answer the endpoint may still exist; find it by its unique URL.
        const ids = id === null ? await findByUrl(client, url, deadline) : [id];
        for (const found of ids) await removeEndpoint(client, found, deadline);
        return { isRemoved: true, ids };
      } catch (error) {
        const why = deadline.aborted ? 'the service did not answer in time' : (error as Error).message;
        return { isRemoved: false, id, why };
      }
    },
  };
}

/**
 * Removes endpoints left by killed runs on this machine. Each URL is probed first: an endpoint whose `listen` answers,
 * or whose probe times out, is kept.
 */
export async function removeLeftovers(client: Simplane, signal: AbortSignal): Promise<string[]> {
  const removed: string[] = [];
  for await (const { id, url, metadata } of client.webhookEndpoints.list({}, { signal })) {
    if (metadata[listenTag] !== hostname() || !listenUrl.test(url) || (await isAlive(url, signal))) continue;
    await removeEndpoint(client, id, signal);
    removed.push(id);
  }
  return removed;
}

async function isAlive(url: string, signal: AbortSignal): Promise<boolean> {
  const timeout = AbortSignal.timeout(5_000);
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.any([signal, timeout]) });
    // Another program may have taken over the port.
    return response.status === 200 && (await response.text()) === new URL(url).pathname.slice(1);
  } catch {
    return timeout.aborted || signal.aborted;
  }
}

async function findByUrl(client: Simplane, url: string, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for await (const endpoint of client.webhookEndpoints.list({}, { signal })) {
    if (endpoint.url === url) ids.push(endpoint.id);
  }
  return ids;
}

async function removeEndpoint(client: Simplane, id: string, signal: AbortSignal): Promise<void> {
  try {
    await client.webhookEndpoints.delete(id, { signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'resource_missing') throw error; // already deleted
  }
}

/** True if the service rejected the request. After a 5xx or no answer, the endpoint may exist. */
function wasRefused(error: unknown): boolean {
  return error instanceof ApiError && error.code !== undefined && error.status < 500;
}
