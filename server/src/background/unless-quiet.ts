import type { Signals, Topic } from '../platform/db/signals.ts';

type Work = (stopping: AbortSignal) => Promise<unknown>;

// Signals may be missed, and not all that is written has one.
const mostSkipped = 9;

/** Parts of a chore that has something to do only after signals: without one since its last run, it skips nine of ten runs. */
export function unlessQuiet(
  { signals }: { signals: Pick<Signals, 'on'> },
  topics: readonly Topic[],
  work: Work,
) {
  let isQuiet = false;
  let skipped = 0;
  const ends = topics.map((topic) =>
    signals.on(topic, () => {
      isQuiet = false;
    }),
  );
  return {
    async run(stopping: AbortSignal): Promise<void> {
      if (isQuiet && skipped < mostSkipped) {
        skipped += 1;
        return;
      }
      isQuiet = true;
      skipped = 0;
      try {
        await work(stopping);
      } catch (error) {
        isQuiet = false;
        throw error;
      }
    },
    end(): void {
      for (const end of ends) end();
    },
  };
}
