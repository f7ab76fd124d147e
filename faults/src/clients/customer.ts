import type { Customer, Operation } from '../plan.ts';
import type { World } from '../world.ts';
import { operations } from './operations.ts';

/** Does one thing after the other, as planned. Whatever is in the way is waited out: only answers end an operation. */
export async function runCustomer(world: World, customer: Customer): Promise<void> {
  for (const [turn, operation] of customer.operations.entries()) {
    const key = `${customer.name}-${turn}-${operation.kind}`;
    await runOperation(world, { account: customer.account, key, operation, isFirst: turn === 0 });
    world.progress.ended += 1;
  }
}

type Turn = { account: number; key: string; operation: Operation; isFirst: boolean };

async function runOperation(world: World, turn: Turn): Promise<void> {
  await operations[turn.operation.kind](world, turn);
}
