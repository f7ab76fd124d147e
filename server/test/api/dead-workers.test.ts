import { afterAll, beforeAll, expect, test } from 'vitest';
import { releaseDead } from '../../src/background/release-dead.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const [dead, alive, frozen] = ['1', '2', '3'].map((one) => `00000000-0000-4000-8000-00000000000${one}`);

const read = async (text: string) => (await service.db.pool.query(text)).rows;

test('exactly what a worker without a beat holds is free again, and its late writes are fenced off', async () => {
  const { accountUuid } = service;
  const announced: string[] = [];
  await read(
    `insert into workers values ('${dead}', now() - interval '5 s'), ('${alive}', now() - interval '2 s')`,
  );
  // Waiting executions keep the name of whoever held them last.
  await read(`
    insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at, attempts, fence, holder, leased_until)
    select '${accountUuid}', gen_random_uuid(), 'esim.provision', name, '{}', now(), due, 1, 7, holder::uuid, lease
    from (values
      ('dead', '${dead}', now() - interval '1 hour', now() + interval '1 hour'),
      ('dead, waits', '${dead}', now() + interval '1 hour', null),
      ('alive', '${alive}', now() - interval '1 hour', now() + interval '1 hour'),
      ('older release', null, now() - interval '1 hour', now() + interval '1 hour')) given (name, holder, due, lease)`);
  await read(`
    insert into endpoint_leases (endpoint_id, account_id, holder, fence, leased_until)
    select gen_random_uuid(), '${accountUuid}', holder::uuid, 1, now() + interval '1 hour'
    from unnest(array['${dead}', '${alive}']) holder`);
  await read(`
    insert into core_queue (account_id, id, iccid, version, service, since, due_at, holder, leased_until)
    select '${accountUuid}', gen_random_uuid(), holder, 1, '{}', now(), now(), holder::uuid, now() + interval '1 hour'
    from unnest(array['${dead}', '${alive}']) holder`);

  const signals = { ...service.service.signals, announce: (topic: string) => void announced.push(topic) };
  await releaseDead({ ...service.service, signals });

  expect(
    await read(`
      select product_id, fence, leased_until is not null as held, abs(extract(epoch from due_at - now())) < 600 as due
      from execution_queue order by product_id`),
  ).toEqual([
    { product_id: 'alive', fence: 7, held: true, due: false },
    { product_id: 'dead', fence: 8, held: false, due: true },
    { product_id: 'dead, waits', fence: 7, held: false, due: false },
    { product_id: 'older release', fence: 7, held: true, due: false },
  ]);
  expect(await read('select holder from endpoint_leases')).toEqual([{ holder: alive }]);
  expect(await read('select holder from core_queue where leased_until is not null')).toEqual([
    { holder: alive },
  ]);
  expect(await read('select id from workers')).toEqual([{ id: alive }]);
  expect(announced).toEqual(['executions', 'deliveries']);
  expect(JSON.parse(service.logLines.at(-1) ?? '')).toMatchObject({
    workers: 1,
    executions: 1,
    endpoints: 1,
    services: 1,
  });

  await releaseDead({ ...service.service, signals });
  expect(announced).toHaveLength(2);
});

test('rows that a lingering transaction has locked do not keep the others from being freed', async () => {
  const { accountUuid } = service;
  await read(`insert into workers values ('${frozen}', now() - interval '5 s')`);
  await read(`
    insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at, attempts, fence, holder, leased_until)
    select '${accountUuid}', gen_random_uuid(), 'esim.provision', name, '{}', now(), now(), 1, 1, '${frozen}', now() + interval '1 hour'
    from unnest(array['locked', 'free']) name`);
  await read(`
    insert into core_queue (account_id, id, iccid, version, service, since, due_at, holder, leased_until)
    select '${accountUuid}', gen_random_uuid(), name, 1, '{}', now(), now(), '${frozen}', now() + interval '1 hour'
    from unnest(array['locked', 'free']) name`);
  // As a worker leaves them that was frozen while it stored its results.
  const lingering = await service.db.pool.connect();
  await lingering.query('begin');
  await lingering.query(`select from execution_queue where product_id = 'locked' for update`);
  await lingering.query(`select from core_queue where iccid = 'locked' for update`);
  const releasing = releaseDead(service.service);
  await Promise.race([releasing, untilLockIsAwaited(service)]);
  const freed = await read(`
    select product_id as name from execution_queue where holder = '${frozen}' and leased_until is null
    union all
    select iccid from core_queue where holder = '${frozen}' and leased_until is null`);
  await lingering.query('rollback');
  lingering.release();
  await releasing;
  expect(freed).toEqual([{ name: 'free' }, { name: 'free' }]);
});
