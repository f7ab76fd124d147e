import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Deployment } from '../support/deployment.ts';
import { percentile, type Result, round } from '../support/scenario.ts';

const connections = 400;
const pagesEach = 16;
const forMs = 10_000;
const boundMb = 200;

/**
 * How much memory a process takes while 400 clients ask for 16 pages each and read none of them. There is no ceiling: the bound
 * is 200 MB. The latencies are those of an honest client meanwhile; if it is refused once, the run fails.
 */
export async function memoryUnderAttack(
  deployment: Deployment,
  progress: (what: string) => void,
): Promise<Result> {
  await serveHonestly(deployment, 2_000);
  const atRestMb = await memoryMb(deployment);
  progress(`${round(atRestMb)} MB at rest; ${connections} connections ask for ${pagesEach} pages each`);
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < connections; i++) sockets.push(await openUnread(deployment));
    const { latencies, mostMb } = await serveHonestly(deployment, forMs);
    return {
      value: round(mostMb),
      unit: 'MB',
      ceiling: boundMb,
      ratio: round(mostMb / boundMb),
      goal: '≤ 1',
      p50_ms: round(percentile(latencies, 0.5)),
      p99_ms: round(percentile(latencies, 0.99)),
      rounds: 1,
      details: { at_rest_mb: round(atRestMb), honest_requests: latencies.length },
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** A connection that asks and never reads. */
async function openUnread({ url }: Deployment): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  await once(socket, 'connect');
  socket.on('error', () => {}); // to be closed is one of the ways this may end
  socket.write('GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(pagesEach));
  return socket;
}

/** One request after another, and a look at the memory every now and then. */
async function serveHonestly(deployment: Deployment, ms: number) {
  const latencies: number[] = [];
  let mostMb = 0;
  const endAtMs = performance.now() + ms;
  while (performance.now() < endAtMs) {
    for (let i = 0; i < 20; i++) {
      const startedAtMs = performance.now();
      await get(deployment, '/v1/me');
      latencies.push(performance.now() - startedAtMs);
    }
    mostMb = Math.max(mostMb, await memoryMb(deployment));
  }
  return { latencies: latencies.sort((a, b) => a - b), mostMb };
}

async function memoryMb(deployment: Deployment): Promise<number> {
  const metrics = await get(deployment, '/metrics');
  const [, bytes] = /^process_memory_usage_bytes (\d+)/m.exec(metrics) ?? [];
  if (bytes === undefined) throw new Error('the metrics do not tell the memory');
  return Number(bytes) / 1024 / 1024;
}

async function get({ url, key }: Deployment, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return text;
}
