import { type ExecutionType, encodeId, idPrefixes, type Price } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { requireRoom } from './limit-open.ts';
import { presentNew } from './present.ts';
import { insertExecution } from './sql/executions.ts';

type Order = {
  type: ExecutionType;
  iccid: string;
  productId: string;
  reference?: string | null;
  input: { price?: Price; thresholds?: number[]; reference?: string };
};

/** Stores an order for an existing eSIM, in the transaction that validated it. */
export async function startExecution(ctx: Context, tx: Queryable, order: Order) {
  await requireRoom(ctx, tx);
  const uuid = ctx.newUuid();
  const createdAt = new Date(ctx.clock.nowMs());
  await insertExecution(tx, { accountUuid: ctx.account.uuid, uuid: uuidText(uuid), createdAt, ...order });
  const execution = presentNew(encodeId(idPrefixes.execution, uuid), {
    createdAt,
    price: order.input.price,
    ...order,
  });
  return {
    body: execution,
    location: `/v1/executions/${execution.id}`,
    changes: { execution_id: execution.id },
    afterCommit: () => ctx.signals.announce('executions'),
  };
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
  { newUuid, clock }: Pick<Context, 'newUuid' | 'clock'>,
  tx: Queryable,
  { progress, ...order }: Again,
): Promise<string> {
  const uuid = uuidText(newUuid());
  const createdAt = new Date(clock.nowMs());
  await insertExecution(tx, { ...order, uuid, createdAt, ...(progress && { progress: progress(uuid) }) });
  return uuid;
}
