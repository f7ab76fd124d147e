import type { EventTypeName } from '@simplane/contract';
import { fieldsOfEvent } from '@simplane/contract';
import { ApiError, type Bundle, type Esim, type Execution, type Simplane } from '@simplane/sdk';
import type { EventData } from './sample-event.ts';

/** Which existing eSIM, bundle and execution fit an event type best. Any other is used if there is none. */
const fitting: Partial<
  Record<EventTypeName, { esim?: Esim['status']; bundle?: Bundle['status']; execution?: Execution['type'] }>
> = {
  'esim.provisioned': { execution: 'esim.provision' },
  'esim.suspended': { esim: 'suspended', execution: 'esim.suspend' },
  'esim.resumed': { execution: 'esim.resume' },
  'esim.terminated': { esim: 'terminated', execution: 'esim.terminate' },
  'bundle.added': { bundle: 'queued', execution: 'bundle.add' },
  'bundle.depleted': { bundle: 'depleted' },
  'bundle.expired': { bundle: 'expired' },
  'bundle.canceled': { esim: 'terminated', bundle: 'canceled', execution: 'esim.terminate' },
};

/** Facts about an eSIM or endpoint of the account, the given one if `given` names one. Null if there is none. */
export async function findEventFacts(
  client: Simplane,
  type: EventTypeName,
  given: EventData,
): Promise<EventData | null> {
  const { always } = fieldsOfEvent(type);
  try {
    if (always.includes('webhook_endpoint_id')) return await factsOfEndpoint(client, given);
    if (!always.includes('iccid')) return await factsOfFailedOrder(client);
    const esim = await findEsim(client, type, given);
    if (!esim) return null;
    return {
      iccid: esim.iccid,
      product_id: esim.product_id,
      ...(always.includes('bundle_id') && (await factsOfBundle(client, type, esim, given))),
      ...(always.includes('execution_id') && (await factsOfExecution(client, type, esim))),
      ...(always.includes('country') && (await factsOfJourney(client, esim))),
    };
  } catch (error) {
    // A key may be allowed to publish events, but not to read; and a given id may be made up.
    if (error instanceof ApiError && (error.status === 403 || error.code === 'resource_missing')) return null;
    throw error;
  }
}

async function findEsim(client: Simplane, type: EventTypeName, given: EventData): Promise<Esim | null> {
  if (given.iccid !== undefined) return client.esims.get(String(given.iccid));
  const wanted = fitting[type]?.esim;
  const { data } = await client.esims.list({ limit: 100 });
  const isReady = ({ status }: Esim) => ['provisioned', 'active', 'suspended'].includes(status);
  return data.find(({ status }) => status === wanted) ?? data.find(isReady) ?? null;
}

async function factsOfBundle(
  client: Simplane,
  type: EventTypeName,
  { iccid, product_id }: Esim,
  given: EventData,
): Promise<EventData> {
  const wanted = fitting[type]?.bundle ?? 'active';
  const { data } = await client.bundles.list(iccid, { limit: 100 });
  // An unlimited bundle reaches no threshold and is never used up.
  const limited = data.filter(({ data_bytes }) => data_bytes !== null);
  const bundle =
    data.find(({ id }) => id === given.bundle_id) ??
    limited.find(({ status }) => status === wanted) ??
    limited[0] ??
    data[0];
  const product = await client.products.get(bundle?.product_id ?? product_id);
  const validUntil = Math.floor(Date.now() / 1000) + product.validity_days * 86_400;
  return {
    ...(bundle && { bundle_id: bundle.id }),
    product_id: product.id,
    data_bytes: bundle ? bundle.data_bytes : product.data_bytes,
    expires_at: bundle?.expires_at ?? validUntil,
  };
}

async function factsOfExecution(client: Simplane, type: EventTypeName, { iccid }: Esim): Promise<EventData> {
  const { data } = await client.executions.list({ limit: 100 });
  const own = data.filter((execution) => execution.iccid === iccid);
  const execution = own.find((one) => one.type === fitting[type]?.execution) ?? own[0];
  return execution ? { execution_id: execution.id } : {};
}

async function factsOfFailedOrder(client: Simplane): Promise<EventData | null> {
  const { data } = await client.executions.list({ status: 'failed', limit: 100 });
  const failed = data.find(({ type, error }) => type === 'esim.provision' && error);
  if (!failed?.error) return null;
  const { code, message } = failed.error;
  return { execution_id: failed.id, product_id: failed.product_id, error: { code, message } };
}

async function factsOfJourney(client: Simplane, { product_id }: Esim): Promise<EventData> {
  const [from, to] = (await client.products.get(product_id)).countries;
  return from && to ? { previous_country: from, country: to } : {};
}

async function factsOfEndpoint(client: Simplane, given: EventData): Promise<EventData | null> {
  const { data } = await client.webhookEndpoints.list({ limit: 100 });
  const endpoint =
    data.find(({ id }) => id === given.webhook_endpoint_id) ??
    data.find(({ status }) => status === 'disabled') ??
    data[0];
  if (!endpoint) return null;
  const { id, url, disabled_reason: reason, failing_since, failure_count, last_error } = endpoint;
  const health = failing_since !== null && { failing_since, failure_count, last_error };
  return { webhook_endpoint_id: id, url, ...(reason && { disabled_reason: reason }), ...health };
}
