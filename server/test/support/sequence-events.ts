import { assignPositions } from '../../src/notify/feed/sql/positions.ts';
import type { TestService } from './service.ts';
import { until } from './until.ts';

/** Gives every committed event its position. */
export async function sequenceEvents({ db, clock }: Pick<TestService, 'db' | 'clock'>): Promise<void> {
  await until(
    () => assignPositions(db, { afterId: 0, limit: 10_000, at: new Date(clock.nowMs()) }),
    ({ rowCount }) => rowCount === 0,
  );
}
