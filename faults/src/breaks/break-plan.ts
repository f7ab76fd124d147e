import type { Plan } from '../plan.ts';
import type { Break } from './breaks.ts';

/** A minimal plan that shows the break: one customer per account, and only the break's own faults. */
export function breakPlan(
  seed: number,
  { operations, faults = [], processes = ['all-1'], topology = 'single', network = 'remembers' }: Break,
): Plan {
  const customers = [0, 1].map((account) => ({ name: `customer-${account + 1}`, account, operations }));
  return { seed, topology, network, processes, customers, faults };
}
