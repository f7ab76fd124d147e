import {
  hasScope,
  type IdPrefix,
  type InputFor,
  idPrefixes,
  pageSize,
  type SearchResult,
  searchLimit,
} from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { getEsim } from '../../orders/esims/get.ts';
import { AppError } from '../../platform/app-error.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid, uuidOfId } from '../../platform/ids/uuid.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import {
  type FoundOrder,
  findByIccidEnd,
  findById,
  findByMetadata,
  findByName,
  findByReference,
  findIdempotencyKey,
  type IdType,
} from './sql.ts';

/** The form of the text says what it can be, so each search is a few look-ups in an index. */
export async function search(ctx: Context, { query }: InputFor<'search'>) {
  const text = query.q.trim();
  const limit = Math.min(query.limit ?? searchLimit, pageSize.maximum);
  const finders = [findEsims, findOrders, findResource, findAccount, findNamed, findKey];
  const found = await Promise.all(finders.map((find) => find(ctx, text, limit)));
  const results = new Map(found.flat().map((result) => [`${result.type} ${result.id}`, result]));
  return { object: 'list' as const, data: [...results.values()].slice(0, limit), has_more: false };
}

async function findEsims(ctx: Context, text: string, limit: number): Promise<SearchResult[]> {
  if (/^[0-9]{18,20}$/.test(text)) {
    const esim = await getEsim(ctx, { params: { iccid: text } }).catch(noneIfMissing);
    if (esim) return [esimResult(text, esim.status, esim.created)];
  }
  if (!/^[0-9]{4,20}$/.test(text)) return [];
  const rows = await findByIccidEnd(ctx.db, ctx.account.uuid, text, limit);
  return rows.map((row) => esimResult(row.iccid, row.status, unixSeconds(row.created_at)));
}

function noneIfMissing(error: unknown): null {
  if (error instanceof AppError && error.code === 'resource_missing') return null;
  throw error;
}

export function esimResult(iccid: string, status: string, created: number): SearchResult {
  const [title, path] = [`eSIM, ${status}`, `/v1/esims/${iccid}`];
  return { id: iccid, object: 'search_result', type: 'esim', title, path, created };
}

/** What the account itself calls an order: its reference, or a value in its metadata. */
async function findOrders({ db, account }: Context, text: string, limit: number): Promise<SearchResult[]> {
  const finders = [findByReference, findByMetadata];
  const found = await Promise.all(finders.map((find) => find(db, account.uuid, text, limit)));
  return found.flat().sort(eSimsFirst).map(orderResult);
}

function eSimsFirst(a: FoundOrder, b: FoundOrder): number {
  return Number(a.iccid === null) - Number(b.iccid === null);
}

export function orderResult({ id: uuid, iccid, about, created_at: createdAt }: FoundOrder): SearchResult {
  const created = unixSeconds(createdAt);
  if (iccid !== null) return esimResult(iccid, about, created);
  const id = idOfUuid(idPrefixes.execution, uuid);
  const [title, path] = [`Execution: ${about}`, `/v1/executions/${id}`];
  return { id, object: 'search_result', type: 'execution', title, path, created };
}

type Kind = { type: IdType; name: string; path(id: string, within: string | null): string };

const kinds: { readonly [prefix in IdPrefix]?: Kind } = {
  [idPrefixes.event]: { type: 'event', name: 'Event', path: (id) => `/v1/events/${id}` },
  [idPrefixes.execution]: { type: 'execution', name: 'Execution', path: (id) => `/v1/executions/${id}` },
  [idPrefixes.batch]: { type: 'batch', name: 'Batch', path: (id) => `/v1/batches/${id}` },
  [idPrefixes.webhookEndpoint]: {
    type: 'webhook_endpoint',
    name: 'Webhook endpoint',
    path: (id) => `/v1/webhook_endpoints/${id}`,
  },
  [idPrefixes.delivery]: { type: 'delivery', name: 'Delivery', path: (id) => `/v1/deliveries/${id}` },
  [idPrefixes.bundle]: { type: 'bundle', name: 'Bundle', path: (_, iccid) => `/v1/esims/${iccid}/bundles` },
  [idPrefixes.recovery]: { type: 'recovery', name: 'Recovery', path: (id) => `/v1/recoveries/${id}` },
  [idPrefixes.request]: { type: 'request', name: 'Request', path: (id) => `/v1/requests/${id}` },
  [idPrefixes.auditEntry]: {
    type: 'audit_entry',
    name: 'Audit entry',
    path: (_, filters) => `/v1/audit_log?${filters}`,
  },
  [idPrefixes.apiKey]: { type: 'api_key', name: 'API key', path: (id) => `/v1/api_keys/${id}` },
};

async function findResource(ctx: Context, id: string): Promise<SearchResult[]> {
  const read = readId(id);
  if (!read || !mayFind(ctx, read.kind.type, id)) return [];
  const { kind, uuid } = read;
  const row = await findById(ctx.db, ctx.account.uuid, kind.type, uuid);
  if (!row) return [];
  const result = resourceResult(kind, id, row);
  return [kind.type === 'api_key' && id === ctx.apiKey.id ? { ...result, path: '/v1/me' } : result];
}

/** What an id can be, and its uuid; null if it is no id. */
export function readId(id: string): { kind: Kind; uuid: string } | null {
  const [prefix] = id.split('_', 1) as [IdPrefix];
  const kind = Object.hasOwn(kinds, prefix) ? kinds[prefix] : undefined;
  const uuid = kind && uuidOfId(prefix, id);
  return kind && uuid ? { kind, uuid } : null;
}

type FoundResource = { about: string; within: string | null; created_at: Date };

export function resourceResult({ type, name, path }: Kind, id: string, row: FoundResource): SearchResult {
  const [title, created] = [`${name}: ${row.about}`, unixSeconds(row.created_at)];
  return { id, object: 'search_result', type, title, path: path(id, row.within), created };
}

/** A key may see itself; other keys of the account and the audit log need `admin`, or the operator's view of the account. */
function mayFind({ apiKey }: Context, type: IdType, id: string): boolean {
  const isFree = type !== 'api_key' && type !== 'audit_entry';
  return (
    isFree || id === apiKey.id || hasScope(apiKey.scopes, 'admin') || hasScope(apiKey.scopes, 'operator')
  );
}

/** An account finds itself: its id is in /v1/me and in the operator's messages. */
async function findAccount({ account }: Context, id: string): Promise<SearchResult[]> {
  if (id !== account.id) return [];
  const created = unixSeconds(new Date(unixMsOf(account.uuid)));
  const title = `Account: ${account.name}`;
  return [{ id, object: 'search_result', type: 'account', title, path: '/v1/me', created }];
}

const named = {
  product: { name: 'Product', path: '/v1/products' },
  event_consumer: { name: 'Event consumer', path: '/v1/event_consumers' },
} as const;

async function findNamed(ctx: Context, id: string): Promise<SearchResult[]> {
  const rows = await findByName(ctx.db, ctx.account.uuid, id);
  return rows.map(({ type, about, created_at: createdAt }) => ({
    id,
    object: 'search_result',
    type,
    title: `${named[type].name}: ${about}`,
    path: `${named[type].path}/${id}`,
    created: unixSeconds(createdAt),
  }));
}

async function findKey(ctx: Context, key: string): Promise<SearchResult[]> {
  const row = await findIdempotencyKey(ctx.db, ctx.account.uuid, key, new Date(ctx.clock.nowMs()));
  if (!row) return [];
  const { status, location: path, created_at: createdAt } = row;
  const [title, created] = [`Idempotency key, answered with ${status}`, unixSeconds(createdAt)];
  return [{ id: key, object: 'search_result', type: 'idempotency_key', title, path, created }];
}
