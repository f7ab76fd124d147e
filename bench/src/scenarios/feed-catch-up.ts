import pg from 'pg';
import { startFeedReader } from '../support/load.ts';
import type { Million } from '../support/million.ts';
import { median, type Result, round } from '../support/scenario.ts';

const count = 200_000;
const rounds = 7;
const pageSize = 1_000;
const boundPerSecond = 50_000;

/**
 * Events per second that a reader gets from `start`, in pages of 1,000, one after the other. The bound is 50,000. The details
 * have the rate of a stream, and of a bare `pg` loop that reads the same bodies with one statement a page.
 */
export async function feedCatchUp({ full }: Million, progress: (text: string) => void): Promise<Result> {
  const reader = startFeedReader();
  const db = new pg.Client({ connectionString: full.databaseUrl });
  await db.connect();
  const { url, key } = full;
  const sides = {
    bare: () => readBare(db),
    pages: () => reader.readFeedPages({ url, key, count }),
    stream: () => reader.readStream({ url, key, count }),
  };
  const rates: Record<keyof typeof sides, number[]> = { bare: [], pages: [], stream: [] };
  try {
    for (let i = 0; i <= rounds; i++) {
      for (const [side, read] of Object.entries(sides) as [keyof typeof sides, typeof sides.pages][]) {
        const { elapsedMs } = await read();
        if (i > 0) rates[side].push((count / elapsedMs) * 1_000);
      }
      progress(
        i === 0 ? 'warmed up' : `round ${i} of ${rounds}: ${Math.round(rates.pages.at(-1) ?? 0)} events/s`,
      );
    }
    const value = median(rates.pages);
    return {
      value: Math.round(value),
      unit: 'events/s',
      ceiling: boundPerSecond,
      ratio: round(value / boundPerSecond),
      goal: '≥ 1',
      rounds,
      details: {
        bare_loop_per_second: Math.round(median(rates.bare)),
        stream_per_second: Math.round(median(rates.stream)),
      },
    };
  } finally {
    await db.end();
    await reader.stop();
  }
}

async function readBare(db: pg.Client): Promise<{ elapsedMs: number }> {
  const startedAtMs = performance.now();
  let last = '00000000-0000-0000-0000-000000000000';
  for (let seen = 0; seen < count; seen += pageSize) {
    const { rows } = await db.query<{ id: string; body: string }>({
      name: 'bare_page',
      text: `select id, body
             from events
             where account_id = (select id from accounts) and id > $1
             order by id
             limit ${pageSize}`,
      values: [last],
    });
    last = rows.at(-1)?.id as string;
  }
  return { elapsedMs: performance.now() - startedAtMs };
}
