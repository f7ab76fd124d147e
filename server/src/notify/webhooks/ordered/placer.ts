import { placeInOrder } from './place-in-order.ts';
import type { PromoteDeps } from './promote.ts';

/** Runs `placeInOrder` when woken, one run at a time: what wakes it during a run causes one more. */
export function createPlacer(deps: PromoteDeps, onError: (error: unknown) => void) {
  let isWanted = false;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (isWanted) {
      isWanted = false;
      await placeInOrder(deps).catch(onError); // the chore does it then
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
