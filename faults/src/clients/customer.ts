import type { Customer } from '../plan.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import { operations } from './operations.ts';

// More than any fault lasts, so that no fault waits for operations that are waiting for the next one.
const mostAhead = 24;

/** Does one thing after the other, as planned. Whatever is in the way is waited out: only answers end an operation. */
export async function runCustomer(
  world: World,
  { name, account, operations: planned }: Customer,
): Promise<void> {
  for (const [turn, operation] of planned.entries()) {
    await keepPaceWithFaults(world);
    const key = `${name}-${turn}-${operation.kind}`;
    await operations[operation.kind](world, { account, key, operation, isFirst: turn === 0 });
    world.progress.ended += 1;
  }
}

/**
 * A fault may take minutes on a slow machine, for instance while a standby is built. Customers who ran out of
 * operations meanwhile would leave the faults after it without anyone to hit.
 */
async function keepPaceWithFaults(world: World): Promise<void> {
  const mayGoOn = () => {
    const next = world.plan.faults[world.progress.begun];
    return (
      next === undefined || world.progress.ended < next.after + mostAhead || Date.now() > world.giveUpAtMs
    );
  };
  if (!mayGoOn()) await until(mayGoOn, Number.POSITIVE_INFINITY);
}
