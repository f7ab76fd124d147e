import { setTimeout as sleep } from 'node:timers/promises';
import type { UsageRecordBatch } from '@simplane/contract';
import { operations, someEsim, type Task } from '../clients/operations.ts';
import { send } from '../clients/send.ts';
import { writesOf } from '../history/writes.ts';
import { makeOperation, type OperationKind } from '../plan.ts';
import { createRandom, type Random } from '../random.ts';
import type { RunContext } from '../run-context.ts';

// What a live deployment has, most often what a move can lose or double.
const kinds: readonly (readonly [OperationKind | 'report-usage', number])[] = [
  ['provision', 16],
  ['report-usage', 10],
  ['look', 4],
  ['cancel-order', 2],
  ['order-batch', 1.5],
  ['look-batch', 2],
  ['cancel-batch', 0.5],
  ['suspend', 3],
  ['resume', 3],
  ['terminate', 2],
  ['top-up', 3],
  ['create-endpoint', 0.5],
  ['retype-endpoint', 0.5],
  ['disable-endpoint', 0.5],
  ['enable-endpoint', 1],
  ['rotate-secret', 1],
  ['recover', 0.5],
  ['replay', 3],
  ['retry-delivery', 2],
  ['skip-delivery', 0.5],
  ['revoke-key', 0.5],
  ['walk', 0.5],
];
const pauseMs = 150;
const customersPerAccount = 2;

export type Load = { stop(): Promise<void> };

/** Customers of these accounts, each of which does one thing after another until it is stopped. */
export function startLoad(ctx: RunContext, accounts: number, reporters: readonly number[]): Load {
  let isStopped = false;
  const run = async (account: number, index: number) => {
    const name = `customer-${account + 1}-${index + 1}`;
    const random = createRandom(ctx.plan.seed, name);
    const opening: OperationKind[] = ['create-endpoint', 'create-endpoint', 'provision', 'provision'];
    for (let turn = 0; !isStopped; turn++, await sleep(pauseMs)) {
      const kind = opening[turn] ?? random.weigh(kinds);
      const drawn = makeOperation(random, kind === 'report-usage' ? 'use-data' : kind);
      const task: Task = { account, key: `${name}-${turn}-${kind}`, operation: drawn, isFirst: turn === 0 };
      if (kind === 'report-usage') await reportUsage(ctx, task, random, reporters);
      else await operations[kind](ctx, task);
      if (random.chance(0.05)) await repeatOldWrite(ctx, account, random);
      ctx.progress.operations += 1;
    }
  };
  const running = Promise.all(
    Array.from({ length: accounts * customersPerAccount }, (_, at) =>
      run(at % accounts, Math.floor(at / accounts)),
    ),
  );
  return {
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

/** To either cell, or to both at once, until one has counted or refused it for good; then to the other once more. */
async function reportUsage(
  ctx: RunContext,
  task: Task,
  random: Random,
  reporters: readonly number[],
): Promise<void> {
  const iccid = await someEsim(ctx, task);
  if (iccid === undefined) return;
  const { choice } = task.operation;
  const at = Math.floor(Date.now() / 1_000);
  const record = { record_id: task.key, iccid, bytes: 1 + Math.floor(choice * 400_000_000), at };
  const body = { records: [{ ...record, country: random.pick(['FR', 'IT', 'BR']) }] };
  let sentCount = 0;
  const report = async (account: number) => {
    const key = `${task.key}-report-${sentCount++}`;
    const answer = await send(ctx, { account, method: 'POST', path: '/v1/usage_records', key, body });
    const { rejections } = JSON.parse(answer.text) as UsageRecordBatch;
    return rejections[0]?.reason !== 'esim_not_ready';
  };
  const first = random.below(2);
  const [one, other] = [reporters[first] as number, reporters[1 - first] as number];
  if (random.chance(0.3)) await Promise.all([report(one), report(other)]);
  while (!(await report(random.pick(reporters)))) await sleep(pauseMs);
  await report(other);
}

/** A replay of any age, perhaps in another cell than the one that ran it. */
async function repeatOldWrite(ctx: RunContext, account: number, random: Random): Promise<void> {
  const ended = writesOf(ctx.history).filter((write) => write.account === account && write.status !== null);
  if (ended.length === 0) return;
  const { method, path, body, key } = random.pick(ended);
  await send(ctx, { account, method, path, key, ...(body !== null && { body }) });
}

/** So that each move has a key that it must have brought along. */
export async function repeatOldWrites(ctx: RunContext, account: number, random: Random): Promise<void> {
  for (let count = 0; count < 20; count++) await repeatOldWrite(ctx, account, random);
}
