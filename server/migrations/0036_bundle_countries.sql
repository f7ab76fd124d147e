-- in-batches: select count(*) from bundles where countries is null and exists (select from products where products.id = bundles.product_id)

-- From now on, a change of the catalog no longer affects bundles that were sold before.
update bundles
set countries = products.countries
from products
where products.id = bundles.product_id
  and bundles.ctid = any(array(
    select ctid
    from bundles
    where countries is null and exists (select from products where products.id = bundles.product_id)
    limit 10000));
