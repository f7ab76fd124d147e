import pg from 'pg';
import type { Deployment } from '../support/deployment.ts';
import { median, type Result, round } from '../support/scenario.ts';

const recordsPerRequest = 10_000;
const requestsPerRound = 6;
const lanes = 2;
const esimsPerLane = 1_000;
const rounds = 7;
const startSeconds = Math.floor(Date.now() / 1_000) - 86_400;

type UsageRecord = { record_id: string; iccid: string; bytes: number; at: number; country: string };
type Send = (records: UsageRecord[], lane: number) => Promise<void>;

/**
 * Usage records per second over HTTP, 10,000 per request, two concurrent requests for different eSIMs. Compared to a bare `pg`
 * loop in this process that inserts the same rows and adds the bytes to the bundles: two statements and a commit per 10,000.
 */
export async function usageFeed(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const pool = new pg.Pool({ connectionString: deployment.databaseUrl, max: lanes });
  try {
    progress(`storing ${2 * lanes * esimsPerLane} eSIMs with a bundle each`);
    await fill(pool);
    const sides: { prefix: string; send: Send; rates: number[] }[] = [
      { prefix: ceilingPrefix, send: (records) => writeBare(pool, records), rates: [] },
      { prefix: feedPrefix, send: (records) => post(deployment, records), rates: [] },
    ];
    for (let i = 0; i <= rounds; i++) {
      progress(i === 0 ? 'warming up' : `round ${i} of ${rounds}`);
      for (const side of i % 2 === 0 ? sides : sides.toReversed()) {
        const rate = await measure(side, i);
        if (i > 0) side.rates.push(rate);
      }
    }
    await checkTotals(pool);
    const [ceiling, value] = sides.map(({ rates }) => median(rates)) as [number, number];
    const ratios = sides[1]?.rates.map((rate, index) => rate / (sides[0]?.rates[index] as number)) ?? [];
    return {
      value: Math.round(value),
      unit: 'records/s',
      ceiling: Math.round(ceiling),
      ratio: round(median(ratios)),
      goal: '≥ 0.4',
      rounds,
    };
  } finally {
    await pool.end();
  }
}

const ceilingPrefix = '8999811';
const feedPrefix = '8999812';

/** Stores large bundles that reach no threshold, so only counting is measured, not publishing events. */
async function fill(pool: pg.Pool): Promise<void> {
  for (const prefix of [ceilingPrefix, feedPrefix]) {
    const values = [prefix, lanes * esimsPerLane];
    await pool.query(
      `insert into esims (account_id, id, iccid, execution_id, product_id, status, country, country_observed_at, metadata, created_at)
       select (select id from accounts), uuid_v7(now()), $1 || lpad(n::text, 12, '0'), gen_random_uuid(), 'prod_us_1gb_7d', 'active',
              'US', to_timestamp(0), '{}', now() - interval '30 days'
       from generate_series(0, $2::integer - 1) n`,
      values,
    );
    await pool.query(
      `insert into bundles (account_id, id, iccid, product_id, status, data_bytes, thresholds, validity_days, countries, activated_at,
         expires_at, created_at)
       select account_id, uuid_v7(now()), iccid, product_id, 'active', 1000000000000, '{50,80,100}', 3650, '{US}', now(),
              now() + interval '10 years', now()
       from esims where starts_with(iccid, $1)`,
      [prefix],
    );
  }
  await pool.query('vacuum (analyze) esims, bundles');
}

async function measure({ prefix, send }: { prefix: string; send: Send }, index: number): Promise<number> {
  const batches = Array.from({ length: lanes }, (_, lane) =>
    Array.from({ length: requestsPerRound }, (_, request) =>
      batchOf(prefix, lane, index * requestsPerRound + request),
    ),
  );
  const startedAtMs = performance.now();
  await Promise.all(
    batches.map(async (ofLane, lane) => {
      for (const records of ofLane) await send(records, lane);
    }),
  );
  return (lanes * requestsPerRound * recordsPerRequest * 1000) / (performance.now() - startedAtMs);
}

function batchOf(prefix: string, lane: number, batch: number): UsageRecord[] {
  return Array.from({ length: recordsPerRequest }, (_, index) => ({
    record_id: `cdr-${batch}-${index}`,
    iccid: prefix + String(lane * esimsPerLane + (index % esimsPerLane)).padStart(12, '0'),
    bytes: 1_000 + index,
    at: startSeconds + batch * 60 + Math.floor(index / esimsPerLane),
    country: 'US',
  }));
}

async function writeBare(pool: pg.Pool, records: UsageRecord[]): Promise<void> {
  const client = await pool.connect();
  try {
    const perEsim = new Map<string, number>();
    for (const { iccid, bytes } of records) perEsim.set(iccid, (perEsim.get(iccid) ?? 0) + bytes);
    await client.query('begin');
    await client.query({
      name: 'bench_insert',
      text: `insert into usage_records (iccid, record_id, bytes, observed_at)
             select iccid, record_id, bytes, to_timestamp(at)
             from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) as g (iccid, record_id, bytes, at)
             on conflict do nothing`,
      values: [
        records.map(({ iccid }) => iccid),
        records.map(({ record_id }) => record_id),
        records.map(({ bytes }) => bytes),
        records.map(({ at }) => at),
      ],
    });
    await client.query({
      name: 'bench_add_up',
      text: `update bundles set used_bytes = used_bytes + given.bytes
             from unnest($1::text[], $2::bigint[]) as given (iccid, bytes) where bundles.iccid = given.iccid`,
      values: [[...perEsim.keys()], [...perEsim.values()]],
    });
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function post({ url, key }: Deployment, records: UsageRecord[]): Promise<void> {
  const response = await fetch(`${url}/v1/usage_records`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ records }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  const { accepted } = JSON.parse(text) as { accepted: number };
  if (accepted !== records.length) throw new Error(`${accepted} of ${records.length} were counted`);
}

/** Fails the run if either side skipped work. */
async function checkTotals(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ total: string }>(
    `select sum(used_bytes) as total from bundles where starts_with(iccid, $1) or starts_with(iccid, $2)
     group by left(iccid, 7)`,
    [ceilingPrefix, feedPrefix],
  );
  if (rows.length !== 2 || rows[0]?.total !== rows[1]?.total) {
    throw new Error(`the two sides counted different totals: ${JSON.stringify(rows)}`);
  }
}
