/** `ExecutionRow` from the history. */
export const endedColumns = `id, type, status, product_id, iccid, error, attempts, created_at, finished_at,
  null as waiting_for, null::timestamptz as next_attempt_at, input ->> 'retry_of' as retry_of, retried_by`;

/** `ExecutionRow` from the queue. A row that was never claimed is queued, any other is running. */
export const openColumns = `id, type, case when attempts = 0 then 'queued' else 'running' end as status, product_id, iccid,
  null::jsonb as error, attempts, created_at, null::timestamptz as finished_at,
  case
    when leased_until > now() then null
    when leased_until is not null then 'takeover'
    else coalesce(progress ->> 'waiting_for', 'worker')
  end as waiting_for,
  case when leased_until > now() then null else greatest(due_at, leased_until) end as next_attempt_at,
  input ->> 'retry_of' as retry_of, null::uuid as retried_by`;
