import type { SearchResult, Simplane } from '@simplane/sdk';
import { placeOf } from './account-path.ts';
import type { Clients } from './client.ts';

export type Hit = { to: string; label: string; about: string };

type Screen = (found: SearchResult, api: Simplane) => string | Promise<string>;

/** The screen of each kind of search result; for what has none, the screen that shows it. */
const screens: Record<SearchResult['type'], Screen> = {
  esim: ({ id }) => `/esims/${id}`,
  execution: ({ id }) => `/executions/${id}`,
  event: ({ id }) => `/events/${id}`,
  webhook_endpoint: ({ id }) => `/webhooks/${id}`,
  delivery: async ({ id }, api) => `/events/${(await api.deliveries.get(id)).event_id}`,
  bundle: ({ path }) => (path ?? '').replace('/v1', '').replace('/bundles', ''),
  recovery: async ({ id }, api) => `/webhooks/${(await api.recoveries.get(id)).webhook_endpoint_id}`,
  request: ({ id }) => `/requests/${id}`,
  audit_entry: ({ path }) => `/audit?${path?.split('?')[1] ?? ''}`,
  api_key: () => '/keys',
  account: () => '/',
  product: ({ id }) => `/esims?product=${encodeURIComponent(id)}`,
  event_consumer: () => '/consumers',
  idempotency_key: ({ path }) => screenOfPath(path),
};

/** The screen of what a request created. */
function screenOfPath(path: string | null): string {
  const [, collection = '', id = ''] = /^\/v1\/(\w+)\/(\w+)$/.exec(path ?? '') ?? [];
  const folder = { esims: 'esims', executions: 'executions', webhook_endpoints: 'webhooks' }[collection];
  return folder === undefined ? '/requests' : `/${folder}/${id}`;
}

/** An operator's ids lead to the operator's screens; all others are looked up in the account. */
export async function findPlaces(clients: Clients, text: string, viewed: string | null): Promise<Hit[]> {
  if (clients.isOperator && viewed === null) return findForOperator(clients, text);
  const { api } = clients;
  const { data } = await api.search(text);
  return Promise.all(
    data.map(async (found) => ({
      to: placeOf(await screens[found.type](found, api), viewed),
      label: found.id,
      about: found.title,
    })),
  );
}

const operatorScreens: Record<string, (id: string) => string> = {
  acct: (id) => `/accounts/${id}`,
  exec: (id) => `/executions/${id}`,
  proc: () => '/processes',
  fg: () => '/',
};

/** What belongs to an account is searched in it. Of what was changed, the audit log tells the account. */
async function findForOperator({ operator }: Clients, text: string): Promise<Hit[]> {
  const screen = operatorScreens[text.split('_')[0] ?? ''];
  if (screen && text.includes('_')) return [{ to: screen(text), label: text, about: '' }];
  const { data } = await operator.auditLog.list({ target: text, limit: 1 });
  return data.map(({ target }) => ({
    to: `/audit?target=${encodeURIComponent(target.id)}`,
    label: target.id,
    about: target.type,
  }));
}
