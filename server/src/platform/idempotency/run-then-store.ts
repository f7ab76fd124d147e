import { findEarlier } from './find-earlier.ts';
import type { Answer, Outcome } from './outcome.ts';
import { runOnce, type Write } from './run-once.ts';

/**
 * For work that must not run inside a transaction because it takes long, and that is harmless to repeat. Runs it, then stores its
 * answer. If the process dies between, or two processes run it at once, it runs twice and the first stored answer counts.
 */
export async function runThenStore(write: Write, work: () => Promise<Answer>): Promise<Outcome> {
  const { claim } = write;
  const earlier = claim && (await findEarlier(write.db, write, claim));
  if (earlier) return earlier;
  const done = work();
  await done.catch(() => {});
  return runOnce(write, () => done);
}
