import { expect, test } from 'vitest';
import { call, type Reply } from '../support/client.ts';
import { copyDatabase } from '../support/copy-database.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';

test('after a restore, earlier cursors go on, later ones get 410 with a cursor to continue from, and new events are visible', async () => {
  const original = await startService();
  const target = { url: original.url, key: original.key };
  await publish(target, 5);
  await sequenceEvents(original);
  const kept = await readFeed(target, 'start', 3);
  await call(target, 'PUT', '/v1/event_consumers/billing', { body: { after: kept.json.cursor } });
  const last = await readFeed(target, kept.json.cursor);
  // Committed without a position when the dump is made; the original and the copy each give it one.
  const unsequenced = await publish(target, 1);

  const copy = await copyDatabase(original.databaseUrl);
  await publish(target, 4);
  await sequenceEvents(original);
  const later = await readFeed(target, 'start');
  const between = await readFeed(target, last.json.cursor, 1);
  await original.stop();

  const restored = await startService({ databaseUrl: copy.url });
  try {
    const now = { url: restored.url, key: original.key };
    expect(idsOf(await readFeed(now, kept.json.cursor))).toEqual(idsOf(last));
    expect((await readFeed(now, last.json.cursor)).json).toMatchObject({ data: [], caught_up: true });
    await expectExpired(now, later.json.cursor);

    await sequenceEvents(restored);
    expect(idsOf(await readFeed(now, last.json.cursor))).toEqual(unsequenced);
    // The same event at the same position, but what follows it is another history.
    await expectExpired(now, between.json.cursor);

    const added = await publish(now, 6);
    await sequenceEvents(restored);
    await expectExpired(now, later.json.cursor);
    expect(idsOf(await readFeed(now, last.json.cursor))).toEqual([...unsequenced, ...added]);
    const consumed = await call(now, 'GET', '/v1/events/feed?consumer=billing');
    expect(idsOf(consumed)).toEqual([...idsOf(last), ...unsequenced, ...added]);
  } finally {
    await restored.stop();
    await copy.drop();
  }
});

type Target = Pick<TestService, 'url' | 'key'>;

/** Returns the ids in the order of writing. */
async function publish(target: Target, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    const { json } = await call(target, 'POST', '/v1/events/test', {
      body: { type: 'test.restored', data: { n } },
    });
    ids.push(json.id);
  }
  return ids;
}

function readFeed(target: Target, after: string, limit = 100): Promise<Reply> {
  return call(target, 'GET', `/v1/events/feed?after=${after}&limit=${limit}`);
}

function idsOf({ json }: Reply): string[] {
  return json.data.map(({ id }: { id: string }) => id);
}

async function expectExpired(target: Target, cursor: string): Promise<void> {
  const { status, json } = await readFeed(target, cursor);
  expect({ status, code: json.error?.code }).toEqual({ status: 410, code: 'cursor_expired' });
  const all = await readFeed(target, json.error.cursor);
  expect(idsOf(all)).toEqual(idsOf(await readFeed(target, 'start')));
}
