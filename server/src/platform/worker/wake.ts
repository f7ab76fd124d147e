// Each poll at rest costs as much as an event.
const rareFactor = 5;

/** How long a polling loop rests: longer while signals tell it of all work, because then a poll only covers a lost signal. */
export function restMs(pollMs: number, hearsAll: boolean): number {
  return hearsAll ? pollMs * rareFactor : pollMs;
}

/** Lets a loop rest until it is woken. What wakes it while it works counts, so that nothing is missed. */
export function createWaker() {
  let isAwake = false;
  let endRest = () => {};
  return {
    wake(): void {
      isAwake = true;
      endRest();
    },
    async rest(maxMs: number): Promise<void> {
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, maxMs);
          endRest = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      isAwake = false;
    },
  };
}

/** Runs `work` when woken, one run at a time: what wakes it during a run causes one more. `stop` waits for the current run. */
export function runWhenWoken(work: () => Promise<unknown>, onError: (error: unknown) => void) {
  let isWanted = false;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await work().catch(onError);
    }
    running = null;
  }

  return {
    wake(): void {
      isWanted = true;
      running ??= run();
    },
    async stop(): Promise<void> {
      isWanted = false;
      await running;
    },
  };
}
