import type { Place } from '../../platform/worker/work-queue.ts';
import type { Breaker } from './breaker.ts';
import type { Deps, IccidStock } from './runner.ts';
import type { Seat } from './seats.ts';
import { type ClaimedExecution, freeUnrun } from './sql/queue.ts';

type Options = Pick<Deps, 'db' | 'holder' | 'leaseMs'> & { onError(error: unknown): void };

type Worker = {
  breaker: Pick<Breaker, 'isPaused'>;
  stock: IccidStock | null;
  reserve(): Place<ClaimedExecution> | null;
  prepare(orders: ClaimedExecution[]): Promise<ClaimedExecution[]>;
  wake(): void;
};

const retryMs = 1_000;

/** Seats for orders that this process accepts, while its worker has room and nothing else waits. */
export function createSeatSource({ db, holder, leaseMs, onError }: Options, worker: Worker) {
  const { breaker, stock, reserve, prepare, wake } = worker;
  let arrived: { order: ClaimedExecution; place: Place<ClaimedExecution> }[] = [];

  const none = (error: unknown): [] => {
    onError(error);
    return [];
  };

  /** Orders of one commit are prepared together. One that cannot be prepared has been given back. */
  async function start(): Promise<void> {
    const batch = arrived;
    arrived = [];
    const kept = new Set(await prepare(batch.map(({ order }) => order)).catch(none));
    for (const { order, place } of batch) {
      if (kept.has(order)) place.run(order);
      else place.release();
    }
  }

  /** Tries until the database answers, or the lease has ended. */
  function free(order: Parameters<Seat['abandon']>[0], leftMs: number): void {
    freeUnrun(db, { ...order, holder }).then(
      (isFree) => isFree && wake(),
      () => leftMs > retryMs && setTimeout(free, retryMs, order, leftMs - retryMs).unref(),
    );
  }

  return async (): Promise<Seat | null> => {
    const place = breaker.isPaused() ? null : reserve();
    if (!place) return null;
    const [iccid = null] = (await stock?.take(db, 1).catch(none)) ?? [];
    return {
      holder,
      leaseMs,
      iccid,
      run(order) {
        if (arrived.push({ order, place }) === 1) setImmediate(() => void start());
      },
      release() {
        place.release();
        if (iccid !== null) stock?.giveBack([iccid]);
      },
      abandon(order) {
        place.release();
        free(order, leaseMs);
      },
    };
  };
}
