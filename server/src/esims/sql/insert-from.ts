/** Inserts the eSIMs of orders that have an ICCID now. `source` has the columns of their queue rows, and `at`. */
export function insertEsimFrom(source: string): string {
  return `
  insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, description, eid, created_at)
  select
    account_id,
    id,
    iccid,
    id,
    product_id,
    'provisioning',
    coalesce(input -> 'metadata', '{}'),
    input ->> 'description',
    input ->> 'eid',
    at
  from ${source}
  where iccid is not null`;
}
