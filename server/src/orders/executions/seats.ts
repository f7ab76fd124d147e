import type { ClaimedExecution } from './sql/queue.ts';

/** A place at this process's worker, for an order that is being accepted. End with one of its functions. */
export type Seat = {
  /** Names the worker in the lease. */
  holder: string;
  leaseMs: number;
  /** For the order, if it gets its ICCID with its lease. */
  iccid: string | null;
  /** Runs the order, which is stored with its lease. */
  run(order: ClaimedExecution): void;
  /** The order was not stored, or without a lease. */
  release(): void;
  /** It is unknown whether the order was stored. If so, a claim must find it. */
  abandon(order: { accountUuid: string; uuid: string }): void;
};

export type Seats = ReturnType<typeof createSeats>;

/** What code that accepts orders needs. */
export type Seating = { seats: Pick<Seats, 'take'> };

/**
 * Passes orders from the code that accepts them to this process's worker, which then need not claim them. Only a shortcut: an order
 * without a seat is claimed, and the lease of a process that dies ends with its beat.
 */
export function createSeats() {
  const workers = new Set<() => Promise<Seat | null>>();
  return {
    async take(): Promise<Seat | null> {
      for (const seat of workers) {
        const taken = await seat();
        if (taken) return taken;
      }
      return null;
    },
    /** `seat` returns null while the worker has no room, or others wait. Returns a function that ends it. */
    offer(seat: () => Promise<Seat | null>): () => void {
      workers.add(seat);
      return () => void workers.delete(seat);
    },
  };
}
