import { hash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../support/child.ts';
import { type Deployment, runSql } from '../support/deployment.ts';
import { median, percentile, type Result, round } from '../support/scenario.ts';

/** By their names in `load/attackers.ts`. */
const attacks = [
  'hostile bodies',
  'unfinished bodies',
  'slow lists',
  'unread pages',
  'streams',
  'feed readers',
  'guessed keys',
];

const rounds = 3;
const roundMs = 4_000;
const requestsPerSecond = 100;
const eventCount = 100_000;
const eventsPerStatement = 1_000;
const esimCount = 50_000;
const keyCount = 50;

/**
 * The p99 of an honest client while an attacker of another account works at full speed, compared to the same client alone: medians
 * of alternating rounds. Each attack is measured by itself; the result is the worst. A request that is refused, or ends with 5xx, ends the run.
 */
export async function fairShares(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  progress(`storing ${eventCount.toLocaleString('en')} events and ${esimCount.toLocaleString('en')} eSIMs`);
  const keys = await storeAttacker(deployment.databaseUrl);
  const target = { url: deployment.url, keys };
  const attacker = startChild(new URL('../load/attackers.js', import.meta.url));
  const honest = createHonestClient(deployment);
  try {
    progress('warming up');
    await honest.measure(4_000);
    const ratios: Record<string, number> = {};
    let worst = { ratio: 0, alone: 0, beside: 0 };
    for (const attack of attacks) {
      const alone: number[] = [];
      const beside: number[] = [];
      for (let i = 0; i < rounds; i++) {
        alone.push(await honest.measure(roundMs));
        beside.push(await besideAttack(attacker, attack, target, () => honest.measure(roundMs)));
        await sleep(2_000); // connections and statements of the attack end
      }
      const medians = { alone: median(alone), beside: median(beside) };
      const ratio = medians.beside / medians.alone;
      ratios[attack.replaceAll(' ', '_')] = round(ratio);
      if (ratio > worst.ratio) worst = { ratio, ...medians };
      progress(`${attack}: p99 ${round(medians.alone)} ms alone, ${round(medians.beside)} ms beside it`);
    }
    return {
      value: round(worst.beside),
      unit: 'ms p99',
      ceiling: round(worst.alone),
      ratio: round(worst.ratio),
      goal: '≤ 3',
      rounds,
      details: ratios,
    };
  } finally {
    honest.close();
    await attacker.stop();
  }
}

async function besideAttack<T>(
  attacker: Child,
  attack: string,
  target: { url: string; keys: string[] },
  measure: () => Promise<T>,
): Promise<T> {
  await attacker.call('start', { attack, target });
  await sleep(2_000); // until it works at full speed
  try {
    return await measure();
  } finally {
    await attacker.call('stop');
  }
}

/** Orders, reads and follows the feed, from an address of its own. */
function createHonestClient({ url, key }: Deployment) {
  const agent = new Agent({ keepAlive: true, localAddress: '127.0.0.2' });
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  let count = 0;

  function send(): Promise<void> {
    const n = count++;
    const isOrder = n % 2 === 0;
    const path = isOrder
      ? '/v1/esims'
      : n % 4 === 1
        ? '/v1/events?limit=10'
        : '/v1/events/feed?after=start&limit=10';
    return new Promise((resolve, reject) => {
      const sent = request(url + path, { agent, method: isOrder ? 'POST' : 'GET', headers }, (response) => {
        response.resume().once('end', () => {
          if ((response.statusCode ?? 0) < 300) resolve();
          else reject(new Error(`an honest client got ${response.statusCode} for ${path}`));
        });
      });
      sent.once('error', reject);
      sent.end(isOrder ? '{"product_id":"prod_europe_5gb_30d"}' : undefined);
    });
  }

  return {
    /** The p99 in milliseconds, at a steady rate that does not wait for answers. */
    async measure(forMs: number): Promise<number> {
      const latencies: number[] = [];
      const answers: Promise<void>[] = [];
      const startedAtMs = performance.now();
      for (let n = 0; n < (forMs / 1_000) * requestsPerSecond; n++) {
        await sleep(Math.max(0, startedAtMs + (n * 1_000) / requestsPerSecond - performance.now()));
        const sentAtMs = performance.now();
        answers.push(send().then(() => void latencies.push(performance.now() - sentAtMs)));
      }
      await Promise.all(answers);
      return percentile(
        latencies.sort((a, b) => a - b),
        0.99,
      );
    },
    close: () => agent.destroy(),
  };
}

/** Another account with keys, events of 20,000 types, large events and eSIMs. Returns its keys. */
async function storeAttacker(databaseUrl: string): Promise<string[]> {
  const keys = Array.from({ length: keyCount }, (_, n) => `sp_test_bench_attacker_${n}`);
  const hashes = keys.map((key) => hash('sha256', key, 'hex'));
  const [account] = await runSql<{ id: string }>(
    databaseUrl,
    `insert into accounts (id, name, api_version, created_at)
     select uuid_v7(now()), 'Attacker', api_version, now() from accounts limit 1 returning id`,
  );
  const id = account?.id ?? '';
  await runSql(
    databaseUrl,
    `insert into api_keys (id, account_id, hash, name, scopes, last4, created_at)
     select uuid_v7(now()), $1, decode(hash, 'hex'), 'Attack', '{read,write}', 'xxxx', now() from unnest($2::text[]) as hash`,
    [id, hashes],
  );
  const event = (type: string, data: string) =>
    `'{"id":"","type":"' || ${type} || '","object":"event","created":1700000000,"data":{"x":"' || ${data} || '"}}'`;
  // A statement's events are one run of the feed, and the server has no larger ones.
  for (let first = 0; first < eventCount; first += eventsPerStatement) {
    await runSql(
      databaseUrl,
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now()), type, now(), ${event('type', "'x'")}
       from (
         select 'a.' || repeat('a.', n % 50) || 'n' || n % 20000 as type
         from generate_series($2::integer, $3::integer) n) given`,
      [id, first, first + eventsPerStatement - 1],
    );
  }
  await runSql(
    databaseUrl,
    `insert into events (account_id, id, type, created_at, body)
     select $1, uuid_v7(now()), 'bench.large', now(), ${event("'bench.large'", "repeat('x', 250000)")} from generate_series(1, 100)`,
    [id],
  );
  await runSql(
    databaseUrl,
    `insert into esims (account_id, iccid, status, product_id, metadata, created_at, id, execution_id)
     select $1, '8988' || lpad(n::text, 15, '0'), 'provisioned', 'prod_us_1gb_7d',
            jsonb_build_object('one', (n % 2)::text, 'two', (n % 2 * 2 + 1)::text), now(), uuid_v7(now()), uuid_v7(now())
     from generate_series(1, $2::integer) n`,
    [id, esimCount],
  );
  await runSql(databaseUrl, 'vacuum (analyze) events, esims');
  return keys;
}
