-- The events of an eSIM. Every event about an eSIM starts its data with the ICCID, so text functions find it: with them an order costs
-- PostgreSQL 3 µs more, with a JSON parser 7, and with a regular expression 40. Other events have the empty text. Test events whose
-- data starts otherwise are not found by ICCID.
create index events_by_iccid on events
  (account_id, left(split_part(split_part(body, '"data":{"iccid":"', 2), '"', 1), 20) collate "C", id);

-- The event of a failed order, which may have no ICCID. The events of other executions are found by the ICCID.
create index events_of_failed_orders on events
  (account_id, left(split_part(split_part(body, '"execution_id":"', 2), '"', 1), 31) collate "C", id)
  where type = 'esim.provisioning_failed';

-- The commands of an eSIM, for its timeline. Orders are found by their ids, so they have no entry here.
create index executions_commands_of_esim on executions (account_id, iccid, id) where type <> 'esim.provision';
