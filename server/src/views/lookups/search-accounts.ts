import {
  type InputOf,
  idPrefixes,
  type Operations,
  type OperatorSearchResult,
  pageSize,
  type SearchResult,
  searchLimit,
} from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { findAccountById } from '../../accounts/find.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import { esimResult, orderResult, readId, resourceResult } from './search.ts';
import { findByIccidAnywhere, findByIdAnywhere, findByReferenceAnywhere, findProduct } from './sql.ts';

type Finder = (ctx: OperatorContext, text: string, limit: number) => Promise<OperatorSearchResult[]>;

/** Like `search`, over all accounts: where each object is, and what it is. */
export async function searchAccounts(ctx: OperatorContext, { query }: InputOf<Operations['searchAccounts']>) {
  const text = query.q.trim();
  const limit = Math.min(query.limit ?? searchLimit, pageSize.maximum);
  const finders: Finder[] = [findEsims, findOrders, findResource, findAccount, findNamed];
  const found = await Promise.all(finders.map((find) => find(ctx, text, limit)));
  return { object: 'list' as const, data: found.flat().slice(0, limit), has_more: false };
}

type Owner = { account_uuid: string; account_name: string };

function ownedBy({ mode }: OperatorContext, owner: Owner | null, result: SearchResult): OperatorSearchResult {
  return {
    ...result,
    account_id: owner && idOfUuid(idPrefixes.account, owner.account_uuid),
    account_name: owner?.account_name ?? null,
    mode,
  };
}

const findEsims: Finder = async (ctx, text, limit) => {
  if (!/^[0-9]{4,20}$/.test(text)) return [];
  const rows = await findByIccidAnywhere(ctx.db, text, limit);
  return rows.map((row) => ownedBy(ctx, row, esimResult(row.iccid, row.status, unixSeconds(row.created_at))));
};

const findOrders: Finder = async (ctx, text, limit) => {
  const rows = await findByReferenceAnywhere(ctx.db, text, limit);
  return rows.map((row) => ownedBy(ctx, row, orderResult(row)));
};

const findResource: Finder = async (ctx, id) => {
  const read = readId(id);
  const row = read && (await findByIdAnywhere(ctx.db, read.kind.type, read.uuid));
  return read && row ? [ownedBy(ctx, row, resourceResult(read.kind, id, row))] : [];
};

const findAccount: Finder = async (ctx, id) => {
  const account = await findAccountById(ctx.db, id);
  if (!account) return [];
  const result: SearchResult = {
    id,
    object: 'search_result',
    type: 'account',
    title: `Account: ${account.name}`,
    path: `/v1/operator/accounts/${id}`,
    created: unixSeconds(unixMsOf(account.uuid)),
  };
  return [ownedBy(ctx, { account_uuid: account.uuid, account_name: account.name }, result)];
};

const findNamed: Finder = async (ctx, id) => {
  const product = await findProduct(ctx.db, id);
  if (!product) return [];
  const [title, path] = [`Product: ${product.about}`, `/v1/operator/products/${id}`];
  const created = unixSeconds(product.created_at);
  return [ownedBy(ctx, null, { id, object: 'search_result', type: 'product', title, path, created })];
};
