import { acceptRate } from '../support/accepting.ts';
import { alternate } from '../support/alternate.ts';
import { runSql } from '../support/deployment.ts';
import { startGenerator } from '../support/load.ts';
import type { Million } from '../support/million.ts';
import type { Result } from '../support/scenario.ts';

const roundMs = 1_500;

/** Rate of accepting orders with a million rows per table, compared to an empty database. */
export async function acceptAtAMillion(
  { empty, full }: Million,
  progress: (text: string) => void,
): Promise<Result> {
  const generator = startGenerator();
  try {
    progress('warming up');
    for (const target of [empty, full]) await acceptRate(generator, target, 2_000);
    return await alternate(
      {
        value: () => acceptRate(generator, full, roundMs),
        ceiling: () => acceptRate(generator, empty, roundMs),
      },
      { rounds: 7, unit: 'orders/s', goal: '≥ 0.9', progress },
    );
  } finally {
    await generator.stop();
    // Otherwise the workers of the next scenario would run these orders.
    for (const { databaseUrl } of [empty, full]) {
      await runSql(databaseUrl, 'truncate execution_queue');
    }
  }
}
