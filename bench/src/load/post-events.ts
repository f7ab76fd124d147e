import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, postRequest } from './http-connection.ts';

export type PostEvents = { url: string; key: string; aSecond: number; forMs: number; type: string };

/** Publishes test events at a steady rate, whether or not answers come in time. */
export async function postEvents(input: PostEvents): Promise<{ count: number }> {
  const { url, key, aSecond, forMs, type } = input;
  const free = await Promise.all(Array.from({ length: 16 }, () => openConnection(url)));
  const count = Math.round((forMs / 1_000) * aSecond);
  const startedAtMs = performance.now();
  const answers: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, startedAtMs + (n * 1_000) / aSecond - performance.now()));
    const connection = free.pop() ?? (await openConnection(url));
    const request = postRequest({ url, key }, '/v1/events/test', JSON.stringify({ type, data: { n } }), null);
    answers.push(connection.send(request).then(() => void free.push(connection)));
  }
  await Promise.all(answers);
  for (const connection of free) connection.close();
  return { count };
}
