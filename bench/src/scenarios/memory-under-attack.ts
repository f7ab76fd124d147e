import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { Deployment } from '../support/deployment.ts';
import { readMemoryMb } from '../support/memory.ts';
import { percentile, type Result, round } from '../support/scenario.ts';

const connections = 400;
const pagesEach = 16;
const forMs = 10_000;
const boundMb = 200;

/**
 * Memory of a process while 400 clients request 16 pages each and read none of them. There is no ceiling: the bound is
 * 200 MB. The latencies are those of a normal client at the same time; if it is refused once, the run fails.
 */
export async function memoryUnderAttack(
  deployment: Deployment,
  progress: (text: string) => void,
): Promise<Result> {
  await runNormalClient(deployment, 2_000);
  const atRestMb = await readMemoryMb(deployment.pid);
  progress(`${round(atRestMb)} MB at rest; ${connections} connections request ${pagesEach} pages each`);
  const sockets: Socket[] = [];
  try {
    for (let i = 0; i < connections; i++) sockets.push(await openUnread(deployment));
    const { latencies, peakMb } = await runNormalClient(deployment, forMs);
    return {
      value: round(peakMb),
      unit: 'MB',
      ceiling: boundMb,
      ratio: round(peakMb / boundMb),
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

/** Opens a connection that sends requests and never reads. */
async function openUnread({ url }: Deployment): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) }).pause();
  await once(socket, 'connect');
  socket.on('error', () => {}); // the server may close it
  socket.write('GET /docs HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(pagesEach));
  return socket;
}

/** Sends one request after another, and reads the server's memory use every 20 requests. */
async function runNormalClient(deployment: Deployment, ms: number) {
  const latencies: number[] = [];
  let peakMb = 0;
  const endAtMs = performance.now() + ms;
  while (performance.now() < endAtMs) {
    for (let i = 0; i < 20; i++) {
      const startedAtMs = performance.now();
      await get(deployment, '/v1/me');
      latencies.push(performance.now() - startedAtMs);
    }
    peakMb = Math.max(peakMb, await readMemoryMb(deployment.pid));
  }
  return { latencies: latencies.sort((a, b) => a - b), peakMb };
}

async function get({ url, key }: Deployment, path: string): Promise<string> {
  const response = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return text;
}
