import { readFile } from 'node:fs/promises';
import type { Config } from '../config/settings.ts';
import { importCatalog, readCatalog } from '../products/import-catalog.ts';
import type { GivenProduct } from '../products/sql/upsert.ts';
import { CommandError } from './command-error.ts';
import { print } from './print.ts';
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
  options: { json: boolean },
): Promise<void> {
  const { inserted, updated } = await importCatalog(tools.db, tools, products);
  print([{ inserted, updated }], options);
}
