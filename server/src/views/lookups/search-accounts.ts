import {
  type InputFor,
  idPrefixes,
  type OperatorSearchResult,
  OperatorSearchResultList,
  pageSize,
  type SearchResult,
  searchLimit,
} from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import { findAccountById } from '../../accounts/find.ts';
import { findElsewhere } from '../../accounts/moves/find-elsewhere.ts';
import { answersIn, askedCells, isOf } from '../../platform/cells/asked-cells.ts';
import { isFormOf } from '../../platform/cells/is-form-of.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { unixMsOf } from '../../platform/ids/uuid-range.ts';
import { mergeFound } from './merge-found.ts';
import { esimResult, orderResult, readId, resourceResult } from './search.ts';
import { findByIccidAnywhere, findByIdAnywhere, findByReferenceAnywhere, findProduct } from './sql.ts';

type Finder = (ctx: OperatorContext, text: string, limit: number) => Promise<OperatorSearchResult[]>;

const isList = isFormOf<OperatorSearchResultList>(OperatorSearchResultList);

/** Like `search`, over all accounts and the other cells if there are any: where each object is, and what it is. */
export async function searchAccounts(
  ctx: OperatorContext,
  { query }: InputFor<'searchAccounts'>,
): Promise<OperatorSearchResultList> {
  const text = query.q.trim();
  const limit = Math.min(query.limit ?? searchLimit, pageSize.maximum);
  const { cell, cells } = ctx;
  const isOwnOnly = query.cells === 'own';
  if (!isOwnOnly && cells.others.length === 0) return listOf(await findHere(ctx, text, limit));
  const [own, others] = await Promise.all([
    findHere(ctx, text, limit).then((found) => labelFound(ctx, found)),
    isOwnOnly
      ? []
      : cells.ask<OperatorSearchResultList>({
          method: 'GET',
          path: `/v1/operator/search?${new URLSearchParams({ q: text, limit: String(limit), cells: 'own' })}`,
          isAnswer: (json, of): json is OperatorSearchResultList => isList(json) && isOf(of, json),
        }),
  ]);
  const ofCells = answersIn(others).map(({ cell: of, answer }) => ({ cell: of, data: answer.data }));
  return { ...listOf(mergeFound([{ cell, data: own }, ...ofCells], limit)), cells: askedCells(cell, others) };
}

const listOf = (data: OperatorSearchResult[]) => ({ object: 'list' as const, data, has_more: false });

/** Says of each result in which cell it is. Rows of an account that has moved, or is not here yet, name the other. */
async function labelFound(
  { db, cell }: OperatorContext,
  found: readonly OperatorSearchResult[],
): Promise<OperatorSearchResult[]> {
  const elsewhere = await findElsewhere(
    db,
    found.flatMap(({ account_id: id }) => id ?? []),
  );
  return found.map((result) => {
    const other = elsewhere.get(result.account_id ?? '');
    return { ...result, cell: other === undefined ? cell : other };
  });
}

async function findHere(ctx: OperatorContext, text: string, limit: number): Promise<OperatorSearchResult[]> {
  const finders: Finder[] = [findEsims, findOrders, findResource, findAccount, findNamed];
  const found = await Promise.all(finders.map((find) => find(ctx, text, limit)));
  return found.flat().slice(0, limit);
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
