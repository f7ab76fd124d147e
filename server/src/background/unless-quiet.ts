import type { Signals, Topic } from '../platform/db/signals.ts';

type Work = (stopping: AbortSignal) => Promise<unknown>;

// Signals can be missed, and not every write sends one.
const mostSkipped = 9;

/** The parts of a chore that has work only after a signal on one of these topics. Without one, nine of ten runs are skipped. */
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
