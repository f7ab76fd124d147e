import {
  catalogFields,
  countryPattern,
  depletionProblem,
  productFields,
  profileTypePattern,
} from '@simplane/contract';
import { Ajv } from 'ajv';
import type { Database } from '../../platform/db/database.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { commandLine } from '../audit/record.ts';
import type { GivenProduct } from './sql.ts';
import { auditProduct, changesOf, writeProducts } from './write-products.ts';

const catalogProduct = {
  type: 'object',
  properties: { ...productFields, ...catalogFields },
  required: Object.keys(productFields),
  additionalProperties: false,
};

const ajv = new Ajv({ allErrors: true, useDefaults: true, allowUnionTypes: true });
const check = ajv.compile<GivenProduct>(catalogProduct);

export type CatalogProblem = { row: number; id: string | null; problem: string };

/**
 * Writes a validated catalog in one transaction, so that no reader sees half of it. The audit log gets the products that change:
 * importing a large catalog again must not fill it.
 */
export function importCatalog(
  db: Database,
  deps: TimeAndIds,
  products: GivenProduct[],
): Promise<{ inserted: number; updated: number }> {
  const origin = { ...deps, ...commandLine };
  return db.transaction(async (tx) => {
    const written = await writeProducts(tx, deps, products);
    for (const one of written) {
      if (Object.keys(changesOf(one)).length > 0) await auditProduct(tx, origin, one);
    }
    const inserted = written.filter(({ before }) => before === null).length;
    return { inserted, updated: written.length - inserted };
  });
}

/**
 * Parses a catalog file. Returns the products, or all problems of all rows. `needsProfileTypes`: the SM-DP+ chooses the ICCIDs,
 * so only the profile type tells it what to reserve.
 */
export function readCatalog(
  text: string,
  { needsProfileTypes = false } = {},
): { products: GivenProduct[] } | { problems: CatalogProblem[] } {
  const rows = parseRows(text);
  if (typeof rows === 'string') return { problems: [{ row: 0, id: null, problem: rows }] };
  const problems = rows.flatMap((row, index) => problemsOf(row, index + 1));
  if (needsProfileTypes) problems.push(...rows.flatMap((row, index) => missingType(row, index + 1)));
  problems.push(...repeatedIds(rows));
  problems.sort((a, b) => a.row - b.row);
  return problems.length > 0 ? { problems } : { products: rows as GivenProduct[] };
}

function parseRows(text: string): unknown[] | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return `the file is not JSON: ${(error as Error).message}`;
  }
  const rows = Array.isArray(parsed) ? parsed : (parsed as { products?: unknown } | null)?.products;
  if (!Array.isArray(rows))
    return 'the file must be a list of products, or an object with a list named "products"';
  return rows.length > 0 ? rows : 'the file has no products';
}

function problemsOf(row: unknown, number: number): CatalogProblem[] {
  if (check(row)) return unstorable(row, number);
  return (check.errors ?? []).map(({ instancePath, message, params }) => {
    const named = params['additionalProperty'] ?? params['missingProperty'];
    const field = instancePath.slice(1).replaceAll('/', '.');
    if (params['pattern'] === profileTypePattern) {
      const problem = `${field} must be printable ASCII without a space at either end`;
      return { row: number, id: idOf(row), problem };
    }
    if (params['pattern'] === countryPattern) {
      const problem = `${field} must be an ISO 3166-1 alpha-2 country code`;
      return { row: number, id: idOf(row), problem };
    }
    const allowed = params['allowedValues'] ? `: ${(params['allowedValues'] as string[]).join(', ')}` : '';
    const what = params['additionalProperty']
      ? `"${named}" is not a field of a product`
      : `${message}${allowed}`;
    return { row: number, id: idOf(row), problem: field ? `${field} ${what}` : what };
  });
}

function unstorable(row: GivenProduct, number: number): CatalogProblem[] {
  const problem = row.after_depletion && depletionProblem(row.after_depletion);
  return [
    ...(row.name.includes('\u0000') ? ['name contains U+0000'] : []),
    ...(problem ? [`after_depletion ${problem}`] : []),
  ].map((text) => ({ row: number, id: row.id, problem: text }));
}

/** An inactive product cannot be ordered, so it needs no type: that is how a product is withdrawn. */
function missingType(row: unknown, number: number): CatalogProblem[] {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return []; // already a problem
  const { profile_type, active } = row as Partial<GivenProduct>;
  if ((profile_type !== undefined && profile_type !== null) || active === false) return [];
  const problem =
    'profile_type is missing: no order could succeed, since SIMPLANE_ICCID_RANGES is not set either. Add "profile_type" with ' +
    'the SM-DP+’s name for these profiles, set SIMPLANE_ICCID_RANGES for this command as for the workers, or set "active" to false';
  return [{ row: number, id: idOf(row), problem }];
}

function repeatedIds(rows: unknown[]): CatalogProblem[] {
  const firstRowOf = new Map<string, number>();
  return rows.flatMap((row, index) => {
    const id = idOf(row);
    const first = id === null ? undefined : firstRowOf.get(id);
    if (id !== null && first === undefined) firstRowOf.set(id, index + 1);
    return first === undefined
      ? []
      : [{ row: index + 1, id, problem: `the id is already used in row ${first}` }];
  });
}

function idOf(row: unknown): string | null {
  const id = (row as { id?: unknown } | null)?.id;
  return typeof id === 'string' ? id : null;
}
