import { hostname } from 'node:os';
import { ApiError, type Simplane, type WebhookEndpoint } from '@simplane/sdk';

/** What was removed, if there was anything; or what may still be there. */
export type Removal =
  | { isRemoved: true; ids: string[] }
  | { isRemoved: false; id: string | null; why: string };

export type TemporaryEndpoint = {
  created: Promise<WebhookEndpoint>;
  /** Whatever became of the creation, nothing is left when this says so. */
  remove(deadline: AbortSignal): Promise<Removal>;
};

/** In the metadata of every endpoint that `listen` makes: the machine that its URL is on. */
const marker = 'simplane_listen';
// Nothing else is ever asked or removed, whatever an endpoint's metadata claims.
const ownUrl = /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/;

export function createTemporaryEndpoint(
  client: Simplane,
  { url, events }: { url: string; events: string[] },
): TemporaryEndpoint {
  const abandoned = new AbortController();
  const created = client.webhookEndpoints.create(
    {
      url,
      enabled_event_types: events,
      description: 'Temporary: made by `simplane listen`, removed when it ends',
      metadata: { [marker]: hostname() },
    },
    { signal: abandoned.signal },
  );
  created.catch(() => {}); // told to whoever awaits it, also when that is nobody yet
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
        // Without an answer it may have been made all the same: its URL is like no other.
        const ids = id === null ? await findByUrl(client, url, deadline) : [id];
        for (const one of ids) await removeEndpoint(client, one, deadline);
        return { isRemoved: true, ids };
      } catch (error) {
        const why = deadline.aborted ? 'the service did not answer in time' : (error as Error).message;
        return { isRemoved: false, id, why };
      }
    },
  };
}

/**
 * Removes what earlier runs on this machine left when they were killed. Each URL is asked: where another `listen` answers,
 * or something hangs, it stays.
 */
export async function removeLeftovers(client: Simplane, signal: AbortSignal): Promise<string[]> {
  const removed: string[] = [];
  for await (const { id, url, metadata } of client.webhookEndpoints.list({}, { signal })) {
    if (metadata[marker] !== hostname() || !ownUrl.test(url) || (await isAlive(url, signal))) continue;
    await removeEndpoint(client, id, signal);
    removed.push(id);
  }
  return removed;
}

async function isAlive(url: string, signal: AbortSignal): Promise<boolean> {
  const timeUp = AbortSignal.timeout(5_000);
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.any([signal, timeUp]) });
    // Another program may have the port by now.
    return response.status === 200 && (await response.text()) === new URL(url).pathname.slice(1);
  } catch {
    return timeUp.aborted || signal.aborted;
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
    if (!(error instanceof ApiError) || error.code !== 'resource_missing') throw error; // somebody was faster
  }
}

/** The service said no, so there is nothing to remove; no answer, or a failure of its own, says nothing. */
function wasRefused(error: unknown): boolean {
  return error instanceof ApiError && error.code !== undefined && error.status < 500;
}
