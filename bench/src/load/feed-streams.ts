import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { record } from './receipts.ts';

type Api = { url: string; key: string };

export type CountedRead = Api & { count: number };

/** Follows the feed from now on and records each event. */
export async function followStream({ url, key }: Api): Promise<void> {
  const response = await openStream(url, key, 'now');
  onEvent(response, (data) => record((JSON.parse(data) as { id: string }).id));
}

/** Reads `count` events of a stream, from the oldest on. */
export async function readStream({ url, key, count }: CountedRead): Promise<{ elapsedMs: number }> {
  const startedAtMs = performance.now();
  const response = await openStream(url, key, 'start');
  await new Promise<void>((resolve, reject) => {
    let seen = 0;
    response.once('close', () => reject(new Error(`the stream ended after ${seen} events`)));
    onEvent(response, (data) => {
      JSON.parse(data);
      seen += 1;
      if (seen === count) resolve();
    });
  });
  const elapsedMs = performance.now() - startedAtMs;
  response.destroy();
  return { elapsedMs };
}

let idleCount = 0;

export type IdleStreams = { url: string; keys: string[] };

/** Opens a stream for each of the keys; they get no events. */
export async function openIdleStreams({ url, keys }: IdleStreams): Promise<void> {
  for (const key of keys) {
    const response = await openStream(url, key, 'now');
    idleCount += 1;
    response.resume().once('close', () => {
      idleCount -= 1;
    });
  }
}

export const countIdleStreams = () => idleCount;

async function openStream(url: string, key: string, after: string): Promise<IncomingMessage> {
  const headers = { Authorization: `Bearer ${key}`, Accept: 'text/event-stream' };
  const opened = request(`${url}/v1/events/feed?after=${after}`, { headers, agent: false }).end();
  const [response] = (await once(opened, 'response')) as [IncomingMessage];
  if (response.statusCode === 200) return response;
  throw new Error(`${response.statusCode}: ${(await response.toArray()).join('')}`);
}

function onEvent(response: IncomingMessage, listener: (data: string) => void): void {
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:')) listener(line.slice('data:'.length));
  });
}
