import type { Customer } from '../plan.ts';
import type { World } from '../world.ts';
import { operations } from './operations.ts';

/** Does one thing after the other, as planned. Whatever is in the way is waited out: only answers end an operation. */
export async function runCustomer(
  world: World,
  { name, account, operations: planned }: Customer,
): Promise<void> {
  for (const [turn, operation] of planned.entries()) {
    const key = `${name}-${turn}-${operation.kind}`;
    await operations[operation.kind](world, { account, key, operation, isFirst: turn === 0 });
    world.progress.ended += 1;
  }
}
