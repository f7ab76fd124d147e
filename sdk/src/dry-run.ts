import type { Call } from './call.ts';
import type { DryRun } from './generated.ts';
import type { CallOptions } from './transport.ts';

type Order<Before extends unknown[], Body, Result> = (
  ...args: [...Before, body: Body, options?: CallOptions]
) => Call<Result>;

/** Checks the order and returns what would be accepted, without changing anything; or orders. */
type Ordering<Before extends unknown[], Body, Result> = Order<Before, Body & { dry_run: true }, DryRun> &
  Order<Before, Body & { dry_run?: false }, Result>;

/** A function that orders something. `dry_run` decides which of the two the API returns. */
export function withDryRun<Before extends unknown[], Body extends { dry_run?: boolean }, Result>(
  order: Order<Before, Body, Result>,
): Ordering<Before, Body, Result> {
  return order as unknown as Ordering<Before, Body, Result>;
}
