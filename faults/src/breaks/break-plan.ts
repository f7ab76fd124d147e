import type { Plan } from '../plan.ts';
import type { Break } from './breaks.ts';

/** Just enough for the break to show: one customer an account, and no fault but the break's own. */
export function breakPlan(
  seed: number,
  { operations, faults = [], processes = ['all-1'], topology = 'single' }: Break,
): Plan {
  const customers = [0, 1].map((account) => ({ name: `customer-${account + 1}`, account, operations }));
  return { seed, topology, processes, customers, faults };
}
