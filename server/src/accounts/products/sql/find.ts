import { one } from '../../../platform/db/statement.ts';
import { type CatalogRow, catalogColumns, columns, type ProductRow } from './rows.ts';

export const findProduct = one<ProductRow, [id: string]>('product_find')`
select ${columns}
from products
where id = $1`;

export const findCatalogProduct = one<CatalogRow, [id: string]>('product_find_catalog')`
select ${catalogColumns}
from products
where id = $1`;
