import type { Database } from '../../db/database.ts';
import { type EndpointHealth, type Settled, settleDeliveries } from './sql.ts';

const mostAtOnce = 256;

/** Gathers results while a batch is being written, and writes them with the next: one statement serves many deliveries. */
export function createSettler(db: Database): (result: Settled) => Promise<EndpointHealth | null> {
  type Waiting = {
    result: Settled;
    resolve(health: EndpointHealth | null): void;
    reject(error: unknown): void;
  };
  const waiting: Waiting[] = [];
  let isWriting = false;

  /** Never throws: every result is told what became of it. */
  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, mostAtOnce);
      try {
        const failing = await settleDeliveries(
          db,
          batch.map(({ result }) => result),
        );
        const healthOf = new Map(failing.map((health) => [health.id, health]));
        for (const { result, resolve } of batch) resolve(healthOf.get(result.delivery.endpoint_id) ?? null);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (result) =>
    new Promise((resolve, reject) => {
      waiting.push({ result, resolve, reject });
      if (isWriting) return;
      isWriting = true;
      // Those that end in the same turn of the loop go together.
      setImmediate(() => void write().catch(reject));
    });
}
