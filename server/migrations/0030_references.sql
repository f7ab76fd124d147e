-- `reference`: the customer's own name for an order. An execution has it in `input`, so accepting an order writes no other column.
alter table esims add column reference text collate "C";
alter table bundles add column reference text collate "C";
