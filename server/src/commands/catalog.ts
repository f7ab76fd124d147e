import { readFile } from 'node:fs/promises';
import { deactivate } from '../accounts/products/deactivate.ts';
import { importCatalog, readCatalog } from '../accounts/products/import-catalog.ts';
import { listCatalogProducts } from '../accounts/products/list.ts';
import type { GivenProduct } from '../accounts/products/sql.ts';
import type { Config } from '../config/settings.ts';
import { allPages } from './all-pages.ts';
import { CommandError } from './command-error.ts';
import { type Format, print, printList } from './print.ts';
import type { Tools } from './with-database.ts';

/** Reads the file and reports every problem in it before a database is opened. */
export async function checkCatalogFile(
  file: string,
  { mode, iccidRanges }: Pick<Config, 'mode' | 'iccidRanges'>,
): Promise<GivenProduct[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new CommandError(`cannot read ${file}: ${error.code ?? error.message}`);
  });
  const catalog = readCatalog(text, { needsProfileTypes: mode === 'live' && iccidRanges === null });
  if (!('problems' in catalog)) return catalog.products;
  const lines = catalog.problems.map(({ row, id, problem }) => {
    const where = row === 0 ? 'file' : `row ${row}${id === null ? '' : ` (${id})`}`;
    return `  ${where}: ${problem}`;
  });
  throw new CommandError(`${file} was not imported; nothing was changed:\n${lines.join('\n')}`);
}

export async function importCatalogCommand(
  tools: Tools,
  products: GivenProduct[],
  options: Format,
): Promise<void> {
  const { inserted, updated } = await importCatalog(tools.db, tools, products);
  print([{ inserted, updated }], options);
}

export async function listCatalogCommand(tools: Tools, options: Format): Promise<void> {
  const products = await allPages((query) => listCatalogProducts(tools, { params: {}, query, body: {} }));
  printList(products, options, ({ id, name, countries, price, active, listed, profile_type }) => ({
    id,
    name,
    countries: countries.length > 3 ? `${countries.length} countries` : countries.join(','),
    price: `${price.amount} ${price.currency}`,
    active,
    listed,
    profile_type,
  }));
}

/** Stops selling a product. Accepted orders continue. */
export async function deactivateProductCommand(tools: Tools, id: string, options: Format): Promise<void> {
  const row = await tools.db.transaction((tx) => deactivate(tx, tools, id));
  print([{ id: row.id, name: row.name, active: row.active }], options);
}
