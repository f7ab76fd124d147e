import { api, type Mutant } from './mutant.ts';

/** Mutants of the catalog: its files, its writers, and metadata. */
export const catalogMutants: Mutant[] = [
  {
    name: 'products-read-unlocked',
    file: 'server/src/accounts/products/sql.ts',
    find: 'where id = any($1)\norder by id\nfor update`',
    replace: 'where id = any($1)\norder by id`',
    tests: [api('catalog-races')],
    why: 'The audit entry of a product tells what it was right before.',
  },
  {
    name: 'products-locked-in-any-order',
    file: 'server/src/accounts/products/sql.ts',
    find: 'where id = any($1)\norder by id\nfor update`',
    replace: 'where id = any($1)\norder by array_position($1, id)\nfor update`',
    tests: [api('catalog-races')],
    why: 'Two catalogs with the same products do not deadlock.',
  },
  {
    name: 'new-products-inserted-in-any-order',
    file: 'server/src/accounts/products/sql.ts',
    find: 'order by id\non conflict',
    replace: 'on conflict',
    tests: [api('catalog-races')],
    why: 'Two catalogs with the same new products do not deadlock.',
  },
];
