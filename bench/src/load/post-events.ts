import { setTimeout as sleep } from 'node:timers/promises';
import { openConnection, postRequest } from './http-connection.ts';

export type PostEvents = { url: string; key: string; perSecond: number; forMs: number; type: string };

/** Publishes test events at a steady rate, without waiting for responses. */
export async function postEvents(input: PostEvents): Promise<{ count: number }> {
  const { url, key, perSecond, forMs, type } = input;
  const idle = await Promise.all(Array.from({ length: 16 }, () => openConnection(url)));
  const count = Math.round((forMs / 1_000) * perSecond);
  const startedAtMs = performance.now();
  const answers: Promise<void>[] = [];
  for (let n = 0; n < count; n++) {
    await sleep(Math.max(0, startedAtMs + (n * 1_000) / perSecond - performance.now()));
    // The one that has rested longest: the server closes connections that are never used.
    const connection = idle.shift() ?? (await openConnection(url));
    const request = postRequest({ url, key }, '/v1/events/test', JSON.stringify({ type, data: { n } }), null);
    answers.push(connection.send(request).then(() => void idle.push(connection)));
  }
  await Promise.all(answers);
  for (const connection of idle) connection.close();
  return { count };
}
