import { encodeId, idPrefixes } from '@simplane/contract';
import { uuidText } from '../../src/platform/ids/uuid.ts';
import type { TestService } from './service.ts';

/** An order that no worker takes up for an hour. */
export async function insertWaiting({ db, service, accountUuid }: TestService): Promise<string> {
  const uuid = service.newUuid();
  await db.query(
    {
      name: 'test_insert_waiting',
      text: `
insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at)
values ($1, $2, 'esim.provision', 'prod_europe_5gb_30d', '{}', now(), now() + interval '1 hour')`,
    },
    [accountUuid, uuidText(uuid)],
  );
  return encodeId(idPrefixes.execution, uuid);
}

/** An order of which nobody knows whether the network has reserved a profile for it. */
export function insertUnknown(target: TestService): Promise<string> {
  return insertFailed(target, 'outcome_unknown', null);
}

/** A failure on which nobody has acted yet. */
export async function insertFailed(
  { db, service, accountUuid }: TestService,
  code: string,
  group: string | null,
): Promise<string> {
  const uuid = service.newUuid();
  await db.query(
    {
      name: 'test_insert_failed',
      text: `
insert into executions (account_id, id, type, status, product_id, input, error, attempts, created_at, finished_at,
  failure_group)
values ($1, $2, 'esim.provision', 'failed', 'prod_europe_5gb_30d', '{}', $3, 1, now(), now(), $4)`,
    },
    [accountUuid, uuidText(uuid), { code, message: 'The test inserted it.', retryable: false }, group],
  );
  return encodeId(idPrefixes.execution, uuid);
}
