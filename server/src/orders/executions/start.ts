import { type ExecutionType, encodeId, idPrefixes } from '@simplane/contract';
import type { WriteContext } from '../../accounts/context.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Answer, Outcome } from '../../platform/idempotency/outcome.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { requireRoom } from './limit-open.ts';
import { presentNew } from './present.ts';
import { insertExecution } from './sql/executions.ts';

type Order = { type: ExecutionType; iccid: string; productId: string; input: object };

/** Stores an order for an existing eSIM, in the transaction that validated it. */
export async function startExecution(ctx: WriteContext, tx: Queryable, order: Order): Promise<Answer> {
  await requireRoom(ctx, tx);
  const uuid = ctx.newUuid();
  const createdAt = new Date(ctx.clock.nowMs());
  await insertExecution(tx, { accountUuid: ctx.account.uuid, uuid: uuidText(uuid), createdAt, ...order });
  const execution = presentNew(encodeId(idPrefixes.execution, uuid), { createdAt, ...order });
  ctx.describe({ execution_id: execution.id });
  return ctx.render(execution, { location: `/v1/executions/${execution.id}` });
}

type Again = {
  accountUuid: string;
  type: ExecutionType;
  productId: string;
  iccid: string | null;
  input: object;
  /** Takes the execution's uuid because sealed values in it are bound to that uuid. */
  progress?(executionUuid: string): object;
};

/** Stores an execution that an operator starts for an account. Returns its uuid. */
export async function startAgain(
  { newUuid, clock }: Pick<WriteContext, 'newUuid' | 'clock'>,
  tx: Queryable,
  { progress, ...order }: Again,
): Promise<string> {
  const uuid = uuidText(newUuid());
  const createdAt = new Date(clock.nowMs());
  await insertExecution(tx, { ...order, uuid, createdAt, ...(progress && { progress: progress(uuid) }) });
  return uuid;
}

/** Wakes a worker for a new order. Call it after the commit. */
export function announce(ctx: Pick<WriteContext, 'signals'>, outcome: Outcome): Outcome {
  if (outcome.kind === 'answered' && !outcome.replayed) ctx.signals.announce('executions');
  return outcome;
}
