import { encodeId, idPrefixes } from '@simplane/contract';
import { actorOf } from '../../accounts/audit/record.ts';
import type { WriteContext } from '../../accounts/context.ts';
import { createGroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { type Outcome, readStored } from '../../platform/idempotency/outcome.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { acceptWithinLimit } from './accept-within-limit.ts';
import { presentNew } from './present.ts';
import { type AcceptRow, acceptExecutionRows, type NewExecution } from './sql/accept.ts';

/** `input` takes the execution's uuid because sealed values in it are bound to that uuid. */
type Order = { type: 'esim.provision'; productId: string; input(executionUuid: string): object };

export type AcceptOutcome =
  | Outcome
  | { kind: 'product_missing' }
  | { kind: 'product_inactive' }
  | { kind: 'over_limit' };

/** Stores an order durably, or returns why it was rejected. The answer is rendered first: it commits with the order. */
export async function acceptExecution(ctx: WriteContext, order: Order): Promise<AcceptOutcome> {
  const uuid = ctx.newUuid();
  const executionUuid = uuidText(uuid);
  const createdAt = new Date(ctx.clock.nowMs());
  const execution = presentNew(encodeId(idPrefixes.execution, uuid), { iccid: null, createdAt, ...order });
  const row: NewExecution = {
    accountUuid: ctx.account.uuid,
    uuid: executionUuid,
    type: order.type,
    productId: order.productId,
    input: order.input(executionUuid),
    createdAt,
    claim: ctx.claim,
    answer: ctx.render(execution, { location: `/v1/executions/${execution.id}` }),
    audit: {
      actor: actorOf(ctx),
      executionId: execution.id,
      requestId: ctx.requestId,
      ip: ctx.ip,
      via: ctx.via ?? null,
    },
  };
  const limit = ctx.account.limits.openExecutions;
  for (;;) {
    const result =
      limit === null ? await acceptorOf(ctx.db)(row) : await acceptWithinLimit(ctx.db, { row, limit });
    if (result.outcome === 'over_limit') return { kind: 'over_limit' };
    if (result.outcome !== 'overtaken') return readOutcome(result, row);
  }
}

/** Concurrent orders share one statement and one commit. */
const acceptorOf = perDatabase((db) =>
  createGroupCommit({ write: (rows: NewExecution[]) => acceptExecutionRows(db, rows) }),
);

function readOutcome(result: AcceptRow, { answer, claim }: NewExecution): AcceptOutcome {
  switch (result.outcome) {
    case 'accepted':
      return { kind: 'answered', answer, replayed: false };
    case 'stored':
      return readStored(result, claim);
    case 'in_progress':
    case 'product_missing':
    case 'product_inactive':
      return { kind: result.outcome };
    default:
      throw new Error(`unexpected outcome ${result.outcome}`);
  }
}
