import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cost, costOf } from '../support/cost.ts';
import { type Deployment, runSql } from '../support/deployment.ts';
import { startFeedReader } from '../support/load.ts';
import { readMemoryMb } from '../support/memory.ts';
import { type Result, round } from '../support/scenario.ts';

const streams = 1_000;
const seconds = 20;
const settleMs = 3_000;
// Measured: 8 kB.
const boundKb = 50;

// What one account, and one of its keys, may open of a process's streams.
const accountStreams = 100;
const keyStreams = 20;

/** All streams come from one address. */
export const feedIdleSettings = { SIMPLANE_MAX_CONNECTIONS_PER_ADDRESS: '4000' };

/** Memory and CPU of 1,000 streams without events, compared to the same process without streams. */
export async function feedIdle(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const { url, databaseUrl } = deployment;
  const keys = await storeKeys(databaseUrl);
  const reader = startFeedReader();
  try {
    progress(`no streams for ${seconds} s`);
    await sleep(settleMs);
    const without = await measure(deployment);
    progress(`${streams} streams for ${seconds} s`);
    await reader.openIdleStreams({ url, keys });
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

/** As many accounts and keys as the limits ask for. Returns a key for each stream. */
async function storeKeys(databaseUrl: string): Promise<string[]> {
  const ofStreams: string[] = [];
  for (let account = 0; account < streams / accountStreams; account++) {
    const keys = Array.from(
      { length: accountStreams / keyStreams },
      (_, n) => `sp_test_bench_idle_${account}_${n}`,
    );
    await runSql(
      databaseUrl,
      `with account as (
         insert into accounts (id, name, api_version, created_at)
         select uuid_v7(now()), 'Idle', api_version, now() from accounts limit 1 returning id)
       insert into api_keys (id, account_id, hash, name, scopes, last4, created_at)
       select uuid_v7(now()), account.id, decode(hash, 'hex'), 'Idle', '{read}', 'xxxx', now()
       from account, unnest($1::text[]) as hash`,
      [keys.map((key) => hash('sha256', key, 'hex'))],
    );
    for (const key of keys) ofStreams.push(...Array<string>(keyStreams).fill(key));
  }
  return ofStreams;
}

/** The memory of the process at the end of some seconds, and its CPU per second meanwhile. */
async function measure(deployment: Deployment): Promise<Cost & { mb: number }> {
  const cost = await costOf(deployment, seconds, () => sleep(seconds * 1_000));
  return { ...cost, mb: await readMemoryMb(deployment.pid) };
}

const percent = (usPerSecond: number) => round(usPerSecond / 10_000);
