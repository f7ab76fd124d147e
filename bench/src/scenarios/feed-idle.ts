import { setTimeout as sleep } from 'node:timers/promises';
import { type Cost, costOf } from '../support/cost.ts';
import type { Deployment } from '../support/deployment.ts';
import { startFeedReader } from '../support/load.ts';
import { readMemoryMb } from '../support/memory.ts';
import { type Result, round } from '../support/scenario.ts';

const streams = 1_000;
const seconds = 20;
const settleMs = 3_000;
// Measured: 8 kB.
const boundKb = 50;

/** One key opens all streams, from one address. An account has a tenth of all. */
export const feedIdleSettings = {
  SIMPLANE_FEED_STREAMS_PER_KEY: String(streams),
  SIMPLANE_FEED_STREAMS: String(streams * 10),
  SIMPLANE_MAX_CONNECTIONS_PER_ADDRESS: '4000',
};

/** Memory and CPU of 1,000 streams without events, compared to the same process without streams. */
export async function feedIdle(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const { url, key } = deployment;
  const reader = startFeedReader();
  try {
    progress(`no streams for ${seconds} s`);
    await sleep(settleMs);
    const without = await measure(deployment);
    progress(`${streams} streams for ${seconds} s`);
    await reader.openIdleStreams({ url, key, count: streams });
    await sleep(settleMs);
    const open = await measure(deployment);
    const left = await reader.countIdleStreams();
    if (left !== streams) throw new Error(`the server ended ${streams - left} idle streams`);
    const kb = ((open.mb - without.mb) * 1_024) / streams;
    return {
      ...{ value: round(kb), unit: 'kB a stream', ceiling: boundKb, ratio: round(kb / boundKb) },
      ...{ goal: '≤ 1', rounds: 1 },
      details: {
        memory_without_mb: round(without.mb),
        memory_with_mb: round(open.mb),
        node_cpu_without_percent: percent(without.node_us),
        node_cpu_with_percent: percent(open.node_us),
        postgres_cpu_without_percent: percent(without.postgres_us),
        postgres_cpu_with_percent: percent(open.postgres_us),
      },
    };
  } finally {
    await reader.stop();
  }
}

/** The memory of the process at the end of some seconds, and its CPU per second meanwhile. */
async function measure(deployment: Deployment): Promise<Cost & { mb: number }> {
  const cost = await costOf(deployment, seconds, () => sleep(seconds * 1_000));
  return { ...cost, mb: await readMemoryMb(deployment.pid) };
}

const percent = (usPerSecond: number) => round(usPerSecond / 10_000);
