import type { SearchResult, Simplane } from '@simplane/sdk';
import { placeOf } from './account-path.ts';
import type { Clients } from './client.ts';
import { describeMissing, nameOfCell } from './parts/cells.ts';

/** `to` is null for what is in another cell: a screen of this one would say that it does not exist. */
export type Hit = { to: string | null; label: string; about: string };

/** `missing` names the cells that did not answer. */
export type Found = { hits: Hit[]; missing: string | null };

type Screen = (found: SearchResult, api: Simplane) => string | Promise<string>;

/** The screen of each kind of search result; for what has none, the screen that shows it. */
const screens: Record<SearchResult['type'], Screen> = {
  esim: ({ id }) => `/esims/${id}`,
  execution: ({ id }) => `/executions/${id}`,
  batch: ({ id }) => `/batches/${id}`,
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
  const folder = {
    esims: 'esims',
    executions: 'executions',
    batches: 'batches',
    webhook_endpoints: 'webhooks',
  }[collection];
  return folder === undefined ? '/requests' : `/${folder}/${id}`;
}

/** In an account: what it has. In the operator's own view: what any account has. */
export async function findPlaces(clients: Clients, text: string, viewed: string | null): Promise<Found> {
  if (clients.isOperator && viewed === null) return findForOperator(clients, text);
  const { api } = clients;
  const { data } = await api.search(text);
  const hits = data.map(async (found) => ({
    to: placeOf(await screens[found.type](found, api), viewed),
    label: found.id,
    about: found.title,
  }));
  return { hits: await Promise.all(hits), missing: null };
}

/** What is the deployment's, and in no account. */
const deploymentScreens: Record<string, string> = { proc: '/processes', fg: '/' };

/** What an operator sees better on a screen of its own. */
const operatorScreens: { [type in SearchResult['type']]?: (id: string) => string } = {
  account: (id) => `/accounts/${id}`,
  execution: (id) => `/executions/${id}`,
  product: () => '/products',
};

async function findForOperator({ operator }: Clients, text: string): Promise<Found> {
  const own = deploymentScreens[/^([a-z]+)_/.exec(text)?.[1] ?? ''];
  if (own !== undefined) return { hits: [{ to: own, label: text, about: '' }], missing: null };
  const { data, cells } = await operator.search(text);
  const hits = data.map((found) => hitOf(operator, found, cells?.[0]?.cell));
  return { hits: await Promise.all(hits), missing: describeMissing(cells) };
}

async function hitOf(
  operator: Clients['operator'],
  found: Awaited<ReturnType<Clients['operator']['search']>>['data'][number],
  ownCell: string | null | undefined,
): Promise<Hit> {
  const { id, type, title, account_id: account, account_name: name, cell } = found;
  const about = name === null ? title : `${title} · ${name}`;
  if (cell !== undefined && cell !== ownCell) {
    return { to: null, label: id, about: `${about} · in ${nameOfCell(cell)}` };
  }
  const to =
    operatorScreens[type]?.(id) ??
    placeOf(await screens[type](found, operator.account(account ?? '')), account);
  return { to, label: id, about };
}
