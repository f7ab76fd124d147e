import { type ExecutionType, encodeId, idPrefixes } from '@simplane/contract';
import type { WriteContext } from '../context.ts';
import type { Queryable } from '../db/database.ts';
import type { Answer, Outcome } from '../idempotency/outcome.ts';
import { uuidText } from '../ids/uuid.ts';
import { presentNew } from './present.ts';
import { insertExecution } from './sql/insert.ts';

type Order = { type: ExecutionType; iccid: string; productId: string; input: object };

/** Stores an order for an existing eSIM, in the transaction that validated it. */
export async function startExecution(ctx: WriteContext, tx: Queryable, order: Order): Promise<Answer> {
  const uuid = ctx.newUuid();
  const createdAt = new Date(ctx.clock.nowMs());
  await insertExecution(tx, { accountUuid: ctx.account.uuid, uuid: uuidText(uuid), createdAt, ...order });
  const execution = presentNew(encodeId(idPrefixes.execution, uuid), { createdAt, ...order });
  return ctx.render(execution, { location: `/v1/executions/${execution.id}` });
}

/** Wakes a worker for a new order. Call it after the commit. */
export function announce(ctx: WriteContext, outcome: Outcome): Outcome {
  if (outcome.kind === 'answered' && !outcome.replayed) ctx.signals.announce('executions');
  return outcome;
}
