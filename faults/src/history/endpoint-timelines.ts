import type { Event, WebhookEndpoint } from '@simplane/contract';
import { atMsOf } from './at-ms.ts';
import type { History } from './history.ts';
import { bodyOf, type Write, writesOf } from './writes.ts';

/** A change that took effect at some moment between the two times. */
type TimeRange = { fromMs: number; toMs: number };

export type EndpointTimeline = {
  account: number;
  id: string;
  hook: string;
  isOrdered: boolean;
  enabled: TimeRange[];
  /** Disabled by its owner or by the service, or deleted. */
  disabled: TimeRange[];
  subscriptions: (TimeRange & { types: string[] })[];
  /** `revokesOlder`: older secrets no longer sign from then on. */
  secrets: (TimeRange & { secret: string; revokesOlder: boolean })[];
};

/** Reconstructs each endpoint's changes from the recorded answers and the event log. */
export function endpointTimelinesOf(history: History): EndpointTimeline[] {
  const timelines = new Map<string, EndpointTimeline>();
  const writes = writesOf(history);
  for (const write of writes) {
    if (write.path !== '/v1/webhook_endpoints' || write.status !== 201) continue;
    const endpoint = bodyOf<WebhookEndpoint>(write);
    const when = { fromMs: write.fromMs, toMs: write.toMs };
    timelines.set(endpoint.id, {
      account: write.account,
      id: endpoint.id,
      hook: hookOf(endpoint),
      isOrdered: endpoint.ordering === 'esim',
      enabled: [when],
      disabled: [],
      subscriptions: [{ ...when, types: endpoint.enabled_event_types }],
      secrets: [{ ...when, secret: endpoint.secret ?? '', revokesOlder: false }],
    });
  }
  for (const write of writes) addWrite(timelines, write);
  for (const event of history.end.flatMap(({ events }) => events)) {
    if (event.type !== 'webhook_endpoint.disabled') continue;
    const atMs = history.committedMs.get(event.id) ?? atMsOf(event.id);
    timelines.get(String(event.data['webhook_endpoint_id']))?.disabled.push({ fromMs: atMs, toMs: atMs });
  }
  return [...timelines.values()];
}

/**
 * Whether the endpoint was certainly enabled and subscribed from the creation of the event to its commit. False if a
 * change overlaps, because it may have happened before or after.
 */
export function wasCertainlyDue(timeline: EndpointTimeline, event: Event, committedMs: number): boolean {
  if (isAbout(event, timeline.id)) return false;
  const createdMs = atMsOf(event.id);
  const enabled = timeline.enabled.filter(({ toMs }) => toMs < createdMs).at(-1);
  const subscription = timeline.subscriptions.filter(({ toMs }) => toMs < createdMs).at(-1);
  if (!enabled || !subscription) return false;
  const mayInterfere = ({ fromMs, toMs }: TimeRange, since: TimeRange) =>
    toMs >= since.fromMs && fromMs <= committedMs;
  if (timeline.disabled.some((disabling) => mayInterfere(disabling, enabled))) return false;
  if (timeline.subscriptions.some((other) => other !== subscription && mayInterfere(other, subscription)))
    return false;
  return subscribes(subscription.types, event.type);
}

/** Events about an endpoint go to the account's other endpoints. */
export function isAbout({ type, data }: Event, endpointId: string): boolean {
  return type.startsWith('webhook_endpoint.') && data['webhook_endpoint_id'] === endpointId;
}

export function subscribes(types: string[], type: string): boolean {
  return types.some(
    (wanted) =>
      wanted === '*' || wanted === type || (wanted.endsWith('.*') && type.startsWith(wanted.slice(0, -1))),
  );
}

/** The last path segment of an endpoint's URL, which identifies it at its receiver. */
export function hookOf({ url }: { url: string }): string {
  return url.split('/').at(-1) ?? '';
}

function addWrite(timelines: Map<string, EndpointTimeline>, write: Write): void {
  const [, id = '', rest = ''] = /^\/v1\/webhook_endpoints\/(we_\w+)(\/\w+)?$/.exec(write.path) ?? [];
  const timeline = timelines.get(id);
  if (!timeline || write.status !== 200) return;
  const when = { fromMs: write.fromMs, toMs: write.toMs };
  const input = (write.body ?? {}) as {
    status?: string;
    enabled_event_types?: string[];
    expires_in?: number;
  };
  if (write.method === 'DELETE' || input.status === 'disabled') timeline.disabled.push(when);
  if (rest === '/enable') timeline.enabled.push(when);
  if (input.enabled_event_types) timeline.subscriptions.push({ ...when, types: input.enabled_event_types });
  if (rest === '/rotate_secret') {
    const { secret = '' } = bodyOf<WebhookEndpoint>(write);
    timeline.secrets.push({ ...when, secret, revokesOlder: input.expires_in === 0 });
  }
}
