import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { steps } from '../../src/orders/erasures/personal-data.ts';
import { runErasures } from '../../src/orders/erasures/run.ts';
import type { OpenErasure } from '../../src/orders/erasures/sql.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertFailed } from '../support/insert-executions.ts';
import { startService, type TestService } from '../support/service.ts';

// What is left of each value. That nothing of a client is left anywhere is tested in `erasing.test.ts`.

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const query = async (text: string, values: unknown[]) => (await service.db.pool.query(text, values)).rows;

describe('of an erased eSIM', () => {
  /** Erases a terminated eSIM. `fill` may store more of it before. */
  async function erase(fill: (iccid: string) => Promise<unknown>): Promise<string> {
    const iccid = await insertEsim(service);
    await query(`update esims set status = 'terminated' where iccid = $1`, [iccid]);
    await fill(iccid);
    expect((await call(service, 'POST', `/v1/esims/${iccid}/erase`)).status).toBe(202);
    await runErasures(service.db, service.service);
    return iccid;
  }

  test('the order says what it cost, what it belongs to and which it repeats, and no word of the network', async () => {
    const uuid = uuidOfId('exec', await insertFailed(service, 'declined', null)) as string;
    const kept = {
      ...{ price: { amount: 5, currency: 'eur' }, batch_id: uuid, thresholds: [50] },
      retry_of: '00000000-0000-4000-8000-000000000009',
    };
    const progress = { is_ordered: true, smdp_address: 'Jane', last_error: { message: 'Jane' } };
    await query(
      `update executions set input = $2, progress = $3, error = error || '{"message": "Jane"}' where id = $1`,
      [uuid, { ...kept, reference: 'Jane', eid: 'Jane', metadata: { of: 'Jane' } }, progress],
    );
    await erase((iccid) => query('update esims set execution_id = $2 where iccid = $1', [iccid, uuid]));
    const error = { code: 'declined', message: 'Erased.', retryable: false };
    expect(await query('select input, progress, error from executions where id = $1', [uuid])).toEqual([
      { input: kept, progress: { is_ordered: true }, error },
    ]);
  });

  test('the eSIM does not say where it was, nor what its device reported', async () => {
    const iccid = await erase((iccid) =>
      query(
        `update esims set country = 'FR', not_covered_in = 'FR DE', profile_error = '{"message": "Jane"}',
           matching_id = 'sealed' where iccid = $1`,
        [iccid],
      ),
    );
    const columns = 'country, not_covered_in, profile_error, matching_id, eid';
    expect(await query(`select ${columns} from esims where iccid = $1`, [iccid])).toEqual([
      { country: null, not_covered_in: null, profile_error: null, matching_id: null, eid: null },
    ]);
  });

  test('the logs say who did what, without its values, addresses and what was refused', async () => {
    const iccid = await erase(async (iccid) => {
      for (const action of ['esim.updated', 'esim.simulated', 'esim.install_link_created'])
        await query(
          `insert into audit_log (account_id, id, actor_type, action, target_type, target_id, changes, ip, created_at)
           values ($1, uuid_v7(now()), 'api_key', $3, 'esim', $2, '{"country": "FR"}', '203.0.113.7', now())`,
          [service.accountUuid, iccid, action],
        );
      await query(
        `insert into request_log (account_id, id, api_key_id, duration_ms, status, method, path, operation, ip, error_message)
         values ($1, uuid_v7(now()), $1, 1, 400, 'GET', '/v1/esims/' || $2::text, 'getEsim', '203.0.113.7', 'Jane')`,
        [service.accountUuid, iccid],
      );
    });
    expect(
      await query(
        `select action, changes, ip from audit_log where target_id = $1 and action <> 'esim.erasure_requested' order by action desc`,
        [iccid],
      ),
    ).toEqual([
      { action: 'esim.updated', changes: { country: null }, ip: null },
      { action: 'esim.simulated', changes: { country: null }, ip: null },
      { action: 'esim.install_link_created', changes: { country: 'FR' }, ip: null },
    ]);
    const requests = await query('select ip, error_message from request_log where strpos(path, $1) > 0', [
      iccid,
    ]);
    expect(requests).toEqual([{ ip: null, error_message: null }]);
  });
});

describe('of an erased account', () => {
  let accountUuid: string;
  beforeAll(async () => {
    ({ accountUuid } = await service.createAccount('Jane’s'));
  });
  const erase = (table: string) =>
    steps
      .find((step) => step.table === table)
      ?.account?.(service.db, { account_id: accountUuid } as OpenErasure, null);

  test('a key says neither what it was called, nor who made it, nor from where it was used', async () => {
    const by = { type: 'api_key', id: 'key_1', name: 'Jane' };
    await query(
      `update api_keys set name = 'Jane', allowed_cidrs = '{203.0.113.0/24}', created_by = $2 where account_id = $1`,
      [accountUuid, by],
    );
    await erase('api_keys');
    expect(
      await query('select name, allowed_cidrs, created_by from api_keys where account_id = $1', [
        accountUuid,
      ]),
    ).toEqual([{ name: 'Erased.', allowed_cidrs: [], created_by: { ...by, name: null } }]);
  });

  test('an entry says what happened, and names no key or consumer of it', async () => {
    for (const [actor, target] of [
      ['api_key', 'event_consumer'],
      ['operator', 'esim'],
    ])
      await query(
        `insert into audit_log (account_id, id, actor_type, actor_name, action, target_type, target_id, changes, ip, created_at)
         values ($1, uuid_v7(now()), $2, 'Jane', 'a.b', $3, 'Jane', '{"name": "Jane"}', '203.0.113.7', now())`,
        [accountUuid, actor, target],
      );
    await erase('audit_log');
    expect(
      await query(
        `select actor_type, actor_name, target_id, changes, ip from audit_log where account_id = $1 and action = 'a.b' order by actor_type`,
        [accountUuid],
      ),
    ).toEqual([
      { actor_type: 'api_key', actor_name: null, target_id: 'Erased.', changes: { name: null }, ip: null },
      { actor_type: 'operator', actor_name: 'Jane', target_id: 'Jane', changes: { name: null }, ip: null },
    ]);
  });
});
