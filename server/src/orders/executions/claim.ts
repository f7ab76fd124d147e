import type { ExecutionType } from '@simplane/contract';
import type { Breaker } from './breaker.ts';
import { createClaimWindow } from './claim-window.ts';
import type { Deps, Runner, Runners } from './runner.ts';
import { type ClaimedExecution, claimExecutionRows } from './sql/queue.ts';

type Options = Deps & { runners: Runners };
type Postpone = (execution: ClaimedExecution, error: unknown) => Promise<unknown>;

/** Claims what is due next, and prepares it. What cannot be prepared is postponed. */
export function createClaim(options: Options, breaker: Breaker, postpone: Postpone) {
  const { db, clock, runners, holder, leaseMs } = options;
  const claimInWindow = createClaimWindow(clock);
  const claimWhilePaused = createPausedClaim(options, breaker);
  const stock = runners['esim.provision'].stock?.(options) ?? null;

  async function claimDue(count: number): Promise<ClaimedExecution[]> {
    if (breaker.isPaused()) return claimWhilePaused(count);
    const iccids = (await stock?.take(db, count)) ?? [];
    const { executions } = await claimInWindow((since) =>
      claimExecutionRows(db, { count, holder, leaseMs, since, iccids }),
    );
    const allotted = new Set(executions.map(({ iccid }) => iccid));
    stock?.giveBack(iccids.filter((iccid) => !allotted.has(iccid)));
    return executions;
  }

  /** If a batch fails, its executions are prepared one by one, so that one bad row does not block the others. */
  async function prepare(runner: Runner, batch: ClaimedExecution[]): Promise<ClaimedExecution[]> {
    if (!runner.prepare || batch.length === 0) return batch;
    try {
      return await runner.prepare(options, batch);
    } catch (error) {
      if (batch.length > 1) return (await Promise.all(batch.map((one) => prepare(runner, [one])))).flat();
      await postpone(batch[0] as ClaimedExecution, error);
      return [];
    }
  }

  return {
    stock,
    prepareOrders: (orders: ClaimedExecution[]) => prepare(runners['esim.provision'], orders),
    async claim(count: number): Promise<ClaimedExecution[]> {
      const executions = await claimDue(count);
      const batches = Object.entries(runners).map(([type, runner]) =>
        prepare(
          runner,
          executions.filter((execution) => execution.type === type),
        ),
      );
      return (await Promise.all(batches)).flat();
    },
  };
}

/**
 * The claim while the network is paused: only executions that do not call it, and at times one for the probe. The waiting ones
 * are not touched, so they keep their place in the queue.
 */
function createPausedClaim({ db, clock, holder, leaseMs, runners }: Options, breaker: Breaker) {
  const types = Object.keys(runners) as ExecutionType[];
  const paused = types.filter((type) => runners[type].isPausable);
  const others = types.filter((type) => !runners[type].isPausable);
  const claimInWindow = createClaimWindow(clock);
  const wanted = { holder, leaseMs, iccids: [] };
  return async (count: number): Promise<ClaimedExecution[]> => {
    if (breaker.mayClaimProbe()) {
      // If the probe fails, an order that must not be sent twice would end with an unknown outcome.
      const any = { ...wanted, count: 1, since: null, types: paused };
      const { executions: best } = await claimExecutionRows(db, { ...any, isRepeatable: true });
      if (best.length > 0) return best;
      const { executions: oldest } = await claimExecutionRows(db, any);
      if (oldest.length > 0) return oldest;
    }
    const { executions } = await claimInWindow(async (since) => {
      const startedAt = new Date(clock.nowMs());
      const claimed = await claimExecutionRows(db, { ...wanted, count, since, types: others });
      // Nothing is left up to now, so that the next claim need not read the paused ones again.
      return claimed.executions.length < count ? { ...claimed, latestDueAt: startedAt } : claimed;
    });
    return executions;
  };
}
