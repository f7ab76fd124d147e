import { setTimeout as sleep } from 'node:timers/promises';
import type { FailureGroup, OperatorExecution } from '@simplane/contract';
import { createRandom, type Random } from '../random.ts';
import { HarnessFailure, type RunContext } from '../run-context.ts';
import { send, sendOnce } from './send.ts';

export type Operator = ReturnType<typeof startOperator>;

const pauseMs = 250;

/**
 * An operator who looks for orders with unknown outcome, looks them up at the network, and decides at random: adopt, cancel, or
 * retry if nothing was reserved. At times a second operator decides something else at the same moment, or all orders that failed for
 * the same reason are retried together.
 */
export function startOperator(ctx: RunContext) {
  const random = createRandom(ctx.plan.seed, 'operator');
  const decided = new Set<string>();
  let isStopping = false;
  const looking = (async () => {
    while (!isStopping) {
      await decideAll(ctx, random, decided, () => isStopping);
      if (random.chance(0.2)) await retryGroup(ctx, random);
      await sleep(pauseMs);
    }
  })();
  looking.catch(() => {}); // awaited by `stop`

  async function stop(): Promise<void> {
    isStopping = true;
    await looking;
  }

  return {
    stop,
    /** Decides everything that is left. Call it when no order is open; `settle` waits for those that a decision starts. */
    async finish(settle: () => Promise<unknown>): Promise<void> {
      await stop();
      while ((await decideAll(ctx, random, decided, () => false)) > 0) await settle();
      await retryGroup(ctx, random);
      await settle();
    },
  };
}

async function retryGroup(ctx: RunContext, random: Random): Promise<void> {
  const path = '/v1/operator/failure_groups';
  const answer = await sendOnce(ctx, { account: 0, isOperator: true, path }, ctx.answerTimeoutMs);
  if (answer?.status !== 200) return;
  const { data } = JSON.parse(answer.text) as { data: FailureGroup[] };
  const groups = data.filter(({ code, failed }) => code !== 'outcome_unknown' && failed > 0);
  if (groups.length === 0) return;
  const { id } = random.pick(groups);
  await send(ctx, {
    ...{ account: 0, isOperator: true, method: 'POST', at: random.below(1_000) },
    path: `${path}/${id}/retry`,
    key: ctx.newName('retry-group'),
  });
}

/** Returns how many were decided. */
async function decideAll(
  ctx: RunContext,
  random: Random,
  decided: Set<string>,
  isOver: () => boolean,
): Promise<number> {
  let count = 0;
  for (const [account, unresolved] of (await findUnresolved(ctx)).entries()) {
    for (const { id } of unresolved) {
      if (isOver()) return count;
      if (decided.has(id)) continue;
      await decide(ctx, random, account, id);
      decided.add(id);
      count += 1;
    }
  }
  return count;
}

/** The orders to decide, by account. None if there is no answer: the next look finds them. */
async function findUnresolved(ctx: RunContext): Promise<OperatorExecution[][]> {
  const found: OperatorExecution[][] = [];
  for (const account of ctx.deployment.keys.keys()) {
    const me = await sendOnce(ctx, { account, path: '/v1/me' }, ctx.answerTimeoutMs);
    if (me?.status !== 200) return [];
    const id = (JSON.parse(me.text) as { account: { id: string } }).account.id;
    const path = `/v1/operator/executions?error_code=outcome_unknown&limit=100&account_id=${id}`;
    const page = await sendOnce(ctx, { account, isOperator: true, path }, ctx.answerTimeoutMs);
    if (page?.status !== 200) return [];
    const { data, has_more: hasMore } = JSON.parse(page.text) as {
      data: OperatorExecution[];
      has_more: boolean;
    };
    if (hasMore) throw new HarnessFailure('more orders have an unknown outcome than a page holds');
    found.push(data.filter(({ resolution }) => resolution === null));
  }
  return found;
}

async function decide(ctx: RunContext, random: Random, account: number, id: string): Promise<void> {
  const reserved = ctx.history.calls.find(
    ({ step, executionId }) => step === 'order' && executionId === id,
  )?.iccid;
  const choices = reserved
    ? (['adopt', 'cancel'] as const).map((then) => ({ outcome: 'reserved', iccid: reserved, then }))
    : [{ outcome: 'not_reserved' }];
  const at = random.below(1_000);
  const resolve = (name: string, body: object) =>
    send(ctx, {
      ...{ account, isOperator: true, method: 'POST', at, body },
      path: `/v1/operator/executions/${id}/resolve`,
      key: `${name}-${id}`,
    });
  const chosen = random.pick(choices);
  const hasRival = random.chance(0.3);
  const rival = random.pick(choices);
  await Promise.all([resolve('resolve', chosen), ...(hasRival ? [resolve('rival', rival)] : [])]);
  if (reserved || !random.chance(0.7)) return;
  await send(ctx, {
    ...{ account, isOperator: true, method: 'POST', at },
    path: `/v1/operator/executions/${id}/retry`,
    key: `retry-${id}`,
  });
}
