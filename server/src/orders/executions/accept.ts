import { type Execution, encodeId, heldProduct, idPrefixes } from '@simplane/contract';
import { actorOf } from '../../accounts/audit/record.ts';
import type { Context } from '../../accounts/context.ts';
import type { Reply } from '../../accounts/write.ts';
import type { Database } from '../../platform/db/database.ts';
import { createGroupCommit, type GroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { wasRefused } from '../../platform/db/unavailable.ts';
import type { Claim } from '../../platform/idempotency/claim.ts';
import { type Answer, type Outcome, readStored } from '../../platform/idempotency/outcome.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import { findRoom } from './limit-open.ts';
import { presentNew } from './present.ts';
import type { Seating } from './seats.ts';
import { type AcceptRow, acceptExecutionRows, type Lease, type NewExecution } from './sql/accept.ts';
import type { ClaimedExecution } from './sql/queue.ts';

/** `input` takes the execution's uuid because sealed values in it are bound to that uuid. */
type Order = {
  type: 'esim.provision';
  productId: string;
  reference?: string | null;
  input(executionUuid: string): object;
};

type Asked = { claim: Claim | null; render(reply: Reply<Execution>): Answer };

export type AcceptOutcome = Outcome | { kind: 'product_missing' | 'product_inactive' | 'over_limit' };

/** Stores an order durably, or returns why it was rejected. The answer is rendered first: it commits with the order. */
export async function acceptExecution(
  ctx: Context & Seating,
  order: Order,
  { claim, render }: Asked,
): Promise<AcceptOutcome> {
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
    claim,
    answer: render({ body: execution, location: `/v1/executions/${execution.id}` }),
    seat: null,
    audit: {
      actor: actorOf(ctx),
      executionId: execution.id,
      requestId: ctx.requestId,
      ip: ctx.ip,
      via: ctx.via ?? null,
    },
  };
  // Last, because nothing would release it after an error before this.
  const seat = maySit(ctx, order) ? await ctx.seats.take() : null;
  row.seat = seat;
  const result = await write(ctx, row).catch((error: unknown) => {
    if (wasRefused(error)) seat?.release();
    else seat?.abandon(row);
    throw error;
  });
  const lease = result.outcome === 'accepted' ? result.lease : null;
  if (lease) seat?.run(held(row, lease));
  else seat?.release();
  if (result.outcome === 'accepted' && !lease) ctx.signals.announce('executions');
  return readOutcome(result, row);
}

/**
 * Not an order that is to wait. Nor one of an account with a limit: it may wait for the account's lock, and one account must not hold the
 * seats of all.
 */
function maySit({ account }: Context, { productId }: Order): boolean {
  return productId !== heldProduct.id && account.limits.openExecutions === null;
}

async function write(ctx: Context, row: NewExecution): Promise<Result> {
  const limit = ctx.account.limits.openExecutions;
  for (;;) {
    const result =
      limit === null ? await acceptorOf(ctx.db)(row) : await limitedAcceptorOf(ctx)({ row, limit });
    if (result.outcome !== 'overtaken') return result;
  }
}

/** The order as a first claim would return it. */
function held({ accountUuid, type, productId, seat, input }: NewExecution, lease: Lease): ClaimedExecution {
  return {
    account_id: accountUuid,
    id: lease.id,
    type,
    product_id: productId,
    iccid: seat?.iccid ?? null,
    input: input as Record<string, unknown>,
    progress: {},
    attempts: 1,
    fence: 1,
    is_terminated: false,
    profile_type: lease.profile_type,
  };
}

/** Concurrent orders share one statement and one commit. */
const acceptorOf = perDatabase((db) =>
  createGroupCommit({ write: (rows: NewExecution[]) => acceptExecutionRows(db, rows) }),
);

type Limited = { row: NewExecution; limit: number };
type Result = AcceptRow | { outcome: 'over_limit' };

/** Accounts whose acceptor is kept; the one created first is dropped first. A dropped one still finishes its orders. */
const maxAccounts = 1_000;

const acceptorsOf = perDatabase(() => new Map<string, GroupCommit<Limited, Result>>());

/**
 * For an account that may have only so many open orders. Each such account has its own batches, one at a time, so that one that waits
 * for the account's lock delays no other account and holds one connection.
 */
function limitedAcceptorOf({ db, account }: Context): GroupCommit<Limited, Result> {
  const acceptors = acceptorsOf(db);
  const existing = acceptors.get(account.uuid);
  if (existing) return existing;
  const created = createGroupCommit({
    write: (items: Limited[]) => acceptWithinLimit(db, items),
    mostInFlight: 1,
  });
  if (acceptors.size >= maxAccounts) acceptors.delete(acceptors.keys().next().value as string);
  acceptors.set(account.uuid, created);
  return created;
}

/** Orders that turn out to be retries or refused take no place, so the next ones are tried. */
function acceptWithinLimit(db: Database, items: Limited[]): Promise<Result[]> {
  const { row, limit } = items.at(-1) as Limited;
  return db.transaction(async (tx) => {
    const results: Result[] = [];
    let room = await findRoom(tx, row.accountUuid, limit);
    while (room > 0 && results.length < items.length) {
      const next = items.slice(results.length, results.length + room);
      const tried = await acceptExecutionRows(
        tx,
        next.map(({ row }) => row),
      );
      results.push(...tried);
      room -= tried.filter(({ outcome }) => outcome === 'accepted').length;
    }
    return [...results, ...items.slice(results.length).map((): Result => ({ outcome: 'over_limit' }))];
  });
}

function readOutcome(result: Result, { answer, claim }: NewExecution): AcceptOutcome {
  switch (result.outcome) {
    case 'accepted':
      return { kind: 'answered', answer, replayed: false };
    case 'stored':
      return readStored(result, claim);
    case 'overtaken':
      throw new Error('an order that was overtaken is tried again');
    default:
      return { kind: result.outcome };
  }
}
