import type { Event, WebhookEndpoint } from '@simplane/contract';
import { atMsOf } from './at-ms.ts';
import type { History } from './history.ts';
import { bodyOf, type Write, writesOf } from './writes.ts';

/** Something that happened to an endpoint, at a moment between the two. */
type Happening = { fromMs: number; toMs: number };

export type EndpointLife = {
  account: number;
  id: string;
  hook: string;
  enabled: Happening[];
  /** Disabled by its owner or by the service, or deleted. */
  ended: Happening[];
  typed: (Happening & { types: string[] })[];
  /** `voids`: from then on those before it no longer sign. */
  secrets: (Happening & { secret: string; voids: boolean })[];
};

/** What each endpoint went through, from the answers that its owner got and the log. */
export function endpointLivesOf(history: History): EndpointLife[] {
  const lives = new Map<string, EndpointLife>();
  const writes = writesOf(history);
  for (const write of writes) {
    if (write.path !== '/v1/webhook_endpoints' || write.status !== 201) continue;
    const endpoint = bodyOf<WebhookEndpoint>(write);
    const when = { fromMs: write.fromMs, toMs: write.toMs };
    lives.set(endpoint.id, {
      account: write.account,
      id: endpoint.id,
      hook: hookOf(endpoint),
      enabled: [when],
      ended: [],
      typed: [{ ...when, types: endpoint.enabled_event_types }],
      secrets: [{ ...when, secret: endpoint.secret ?? '', voids: false }],
    });
  }
  for (const write of writes) addWrite(lives, write);
  for (const event of history.end.flatMap(({ events }) => events)) {
    if (event.type !== 'webhook_endpoint.disabled') continue;
    const atMs = history.committedMs.get(event.id) ?? atMsOf(event.id);
    lives.get(String(event.data['webhook_endpoint_id']))?.ended.push({ fromMs: atMs, toMs: atMs });
  }
  return [...lives.values()];
}

/**
 * Whether the endpoint was certainly there, enabled and subscribed for an event that was made at the one moment and
 * committed at the other. What overlaps may have happened before or after: then nothing is certain.
 */
export function wasCertainlyDue(life: EndpointLife, event: Event, committedMs: number): boolean {
  const madeMs = atMsOf(event.id);
  const enabling = life.enabled.filter(({ toMs }) => toMs < madeMs).at(-1);
  const typing = life.typed.filter(({ toMs }) => toMs < madeMs).at(-1);
  if (!enabling || !typing) return false;
  const mayInterfere = ({ fromMs, toMs }: Happening, since: Happening) =>
    toMs >= since.fromMs && fromMs <= committedMs;
  if (life.ended.some((ending) => mayInterfere(ending, enabling))) return false;
  if (life.typed.some((other) => other !== typing && mayInterfere(other, typing))) return false;
  return subscribes(typing.types, event.type);
}

export function subscribes(types: string[], type: string): boolean {
  return types.some(
    (wanted) =>
      wanted === '*' || wanted === type || (wanted.endsWith('.*') && type.startsWith(wanted.slice(0, -1))),
  );
}

/** The last part of an endpoint's address, which its receiver knows it by. */
export function hookOf({ url }: { url: string }): string {
  return url.split('/').at(-1) ?? '';
}

function addWrite(lives: Map<string, EndpointLife>, write: Write): void {
  const [, id = '', rest = ''] = /^\/v1\/webhook_endpoints\/(we_\w+)(\/\w+)?$/.exec(write.path) ?? [];
  const life = lives.get(id);
  if (!life || write.status !== 200) return;
  const when = { fromMs: write.fromMs, toMs: write.toMs };
  const given = (write.body ?? {}) as {
    status?: string;
    enabled_event_types?: string[];
    expires_in?: number;
  };
  if (write.method === 'DELETE' || given.status === 'disabled') life.ended.push(when);
  if (rest === '/enable') life.enabled.push(when);
  if (given.enabled_event_types) life.typed.push({ ...when, types: given.enabled_event_types });
  if (rest === '/rotate_secret') {
    const { secret = '' } = bodyOf<WebhookEndpoint>(write);
    life.secrets.push({ ...when, secret, voids: given.expires_in === 0 });
  }
}
