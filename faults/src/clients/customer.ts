import type { Customer } from '../plan.ts';
import type { RunContext } from '../run-context.ts';
import { until } from '../until.ts';
import { operations } from './operations.ts';

// More operations than any fault lasts; otherwise a fault and the customers could wait for each other.
const maxAhead = 24;

/** Runs the planned operations one after another. An operation ends only when it has its answers. */
export async function runCustomer(
  ctx: RunContext,
  { name, account, operations: planned }: Customer,
): Promise<void> {
  for (const [index, operation] of planned.entries()) {
    await keepPaceWithFaults(ctx);
    const key = `${name}-${index}-${operation.kind}`;
    await operations[operation.kind](ctx, { account, key, operation, isFirst: index === 0 });
    ctx.progress.operations += 1;
  }
}

/**
 * Pauses a customer that is far ahead of the next fault. A fault can take minutes on a slow machine; without this, customers
 * could run out of operations before the later faults.
 */
async function keepPaceWithFaults(ctx: RunContext): Promise<void> {
  const mayContinue = () => {
    const next = ctx.plan.faults[ctx.progress.faults];
    return (
      next === undefined || ctx.progress.operations < next.after + maxAhead || Date.now() > ctx.deadlineMs
    );
  };
  if (!mayContinue()) await until(mayContinue, Number.POSITIVE_INFINITY);
}
