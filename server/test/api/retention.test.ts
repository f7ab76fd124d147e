import { expect, test } from 'vitest';
import type { Database } from '../../src/db/database.ts';
import { purgeOld } from '../../src/retention/purge-old.ts';
import { call } from '../support/client.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService } from '../support/service.ts';

const day = 86_400_000;

test('events older than the retention are deleted in batches; newer and undelivered ones stay', async () => {
  const service = await startService();
  try {
    const publish = () => call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
    const endpoint = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
    await Promise.all(Array.from({ length: 600 }, publish));
    await call(service, 'POST', '/v1/webhook_endpoints', { body: endpoint });
    const waiting = await publish();
    await sequenceEvents(service);
    service.clock.advance(30 * day + 1_000);
    const young = await publish();
    await sequenceEvents(service);
    expect(await purgeOld(service.db, service.clock, 30 * day)).toBe(600);
    const { data } = (await call(service, 'GET', '/v1/events?limit=100')).json;
    expect(data.map(({ id }: { id: string }) => id)).toEqual([young.json.id, waiting.json.id]);
    const [{ count }] = (await service.db.query<{ count: number }>({
      name: 'test_pending',
      text: `select count(*) from delivery_queue`,
    })) as [{ count: number }];
    expect(count).toBe(2);
  } finally {
    await service.stop();
  }
});

test('an event without pending deliveries is kept exactly until its retention ends', async () => {
  const service = await startService();
  try {
    const publish = async () =>
      (await call(service, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } })).json.id;
    const listed = async () =>
      (await call(service, 'GET', '/v1/events')).json.data.map(({ id }: { id: string }) => id);
    const old = await publish();
    await sequenceEvents(service);
    service.clock.advance(29 * day);
    const young = await publish();
    await sequenceEvents(service);
    expect(await purgeOld(service.db, service.clock, 30 * day)).toBe(0);
    expect(await listed()).toEqual([young, old]);
    service.clock.advance(day + 1_000);
    await sequenceEvents(service);
    expect(await purgeOld(service.db, service.clock, 30 * day)).toBe(1);
    expect(await listed()).toEqual([young]);
  } finally {
    await service.stop();
  }
});

test('a purge that is told to stop looks at no other account, however many there are', async () => {
  const service = await startService();
  try {
    for (const name of ['One', 'Two', 'Three']) await service.createAccount(name);
    const stopping = new AbortController();
    const accounts = new Set<unknown>();
    const db: Database = {
      ...service.db,
      query(statement, values = []) {
        if (values.length > 0) accounts.add(values[0]);
        if (accounts.size > 0) stopping.abort();
        return service.db.query(statement, values);
      },
    };
    await purgeOld(db, service.clock, 30 * day, stopping.signal);
    expect(accounts.size).toBe(1);
  } finally {
    await service.stop();
  }
});
