import { expect, test } from 'vitest';
import { sequenceEvents } from '../../server/test/support/sequence-events.ts';
import { startService } from '../../server/test/support/service.ts';
import { createSimplane, type FollowOptions } from '../src/index.ts';
import { startClosingProxy } from './support/closing-proxy.ts';

const eventCount = 90;

test('a proxy that closes every connection after a while costs no reader an event, and none comes twice', async () => {
  const service = await startService();
  service.startSequencer();
  const proxy = await startClosingProxy(service.url, 400);
  try {
    const direct = createSimplane({ apiKey: service.key, baseUrl: service.url });
    const { cursor } = await direct.events.feed();
    const proxied = createSimplane({ apiKey: service.key, baseUrl: proxy.url, maxRetries: 20 });

    async function follow(options: FollowOptions): Promise<string[]> {
      const seen: string[] = [];
      for await (const { id } of proxied.events.follow({ after: cursor, ...options })) {
        if (seen.push(id) === eventCount) break;
      }
      return seen;
    }

    async function consume(): Promise<string[]> {
      const seen: string[] = [];
      const controller = new AbortController();
      const handler = ({ id }: { id: string }) => {
        if (seen.push(id) === eventCount) controller.abort();
      };
      await proxied.consumers.run('proxied', handler, {
        after: cursor,
        signal: controller.signal,
        batchSize: 7,
      });
      return seen;
    }

    async function write(count: number): Promise<void> {
      for (let i = 0; i < count; i++) {
        await direct.events.sendTest({ type: 'a.b', data: { i } });
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }

    const readers = Promise.all([follow({}), follow({ transport: 'poll' }), consume()]);
    await Promise.all([1, 2, 3].map(() => write(eventCount / 3)));
    await sequenceEvents(service);
    const { data } = await direct.events.feed({ after: cursor, limit: 1_000 });
    const ids = data.map(({ id }) => id);
    expect(new Set(ids).size).toBe(eventCount);
    for (const seen of await readers) expect(seen).toEqual(ids);
    expect(proxy.closed).toBeGreaterThan(5);
  } finally {
    await proxy.stop();
    await service.stop();
  }
});
