import pg from 'pg';
import { connections } from '../support/accepting.ts';
import { costOf } from '../support/cost.ts';
import type { Deployment } from '../support/deployment.ts';
import { startGenerator } from '../support/load.ts';
import { median, type Result, round } from '../support/scenario.ts';

const rounds = 5;
const warmUpMs = 7_000;
const roundMs = 2_000;
/** As many unfinished ones as an account may have. */
const batches = 10;
const quantity = 1_000;

/** What an accepted order costs in batches of 1,000, compared to orders of their own, which share statements with others. */
export async function batchCost(deployment: Deployment, progress: (text: string) => void): Promise<Result> {
  const { url, key, databaseUrl } = deployment;
  const generator = startGenerator();
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  /** No worker runs, so nobody else ends them. */
  const clear = async () => {
    await db.query('delete from execution_queue');
    await db.query('update batches set finished_at = now() where finished_at is null');
  };
  const cpuOf = async (items: number, run: () => Promise<unknown>) => {
    const { node_us, postgres_us } = await costOf(deployment, items, run);
    return node_us + postgres_us;
  };
  const ofBatches = () =>
    cpuOf(batches * quantity, async () => {
      for (let n = 0; n < batches; n++) await orderBatch({ url, key });
    });
  const ofOrders = async () => {
    let count = 1;
    const cpu = await cpuOf(1, async () => {
      ({ count } = await generator.postOrders({ url, key, connections, forMs: roundMs }));
    });
    return cpu / count;
  };
  try {
    progress('warming up');
    await generator.postOrders({ url, key, connections, forMs: warmUpMs });
    await ofBatches();
    const measured: { batch: number; order: number }[] = [];
    for (let n = 1; n <= rounds; n++) {
      await clear();
      const batch = await ofBatches();
      await clear();
      measured.push({ batch, order: await ofOrders() });
      progress(`round ${n} of ${rounds}: ${Math.round(batch)} µs an order`);
    }
    const value = round(median(measured.map(({ batch }) => batch)));
    const ceiling = round(median(measured.map(({ order }) => order)));
    return { value, unit: 'µs of CPU', ceiling, ratio: round(value / ceiling), goal: '≤ 1', rounds };
  } finally {
    await db.end();
    await generator.stop();
  }
}

async function orderBatch({ url, key }: { url: string; key: string }): Promise<void> {
  const response = await fetch(`${url}/v1/batches`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ product_id: 'prod_europe_5gb_30d', quantity }),
  });
  if (response.status !== 202) throw new Error(`a batch was answered with ${response.status}`);
  await response.arrayBuffer();
}
