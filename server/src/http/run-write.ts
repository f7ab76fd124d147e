import type { WriteOperation } from '@simplane/contract';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../accounts/context.ts';
import type { AnyWrite, LongWrite, Reply, Write } from '../accounts/write.ts';
import type { AppError } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Claim } from '../platform/idempotency/claim.ts';
import { findEarlier } from '../platform/idempotency/find-earlier.ts';
import type { Answer, Outcome } from '../platform/idempotency/outcome.ts';
import { runOnce } from '../platform/idempotency/run-once.ts';
import { lowestUuid } from '../platform/ids/uuid-range.ts';
import { auditShownAgain, auditWrite } from './audit-write.ts';
import { renderError, toAppError } from './render-error.ts';

/** What `http` needs to know of a request to run its write. */
export type Asked<Ctx extends Context, Input> = {
  request: FastifyRequest;
  ctx: Ctx;
  input: Input;
  claim: Claim | null;
  definition: WriteOperation;
  publicUrl(): string;
  stringify(body: object): string;
  /** For the operation's other success. */
  stringifyOther(body: object): string;
};

/** Runs a write once under its idempotency key: its effect, its audit entry and its answer commit together. */
export async function runWrite<Ctx extends Context, Input>(
  handler: AnyWrite<Ctx, Input>,
  asked: Asked<Ctx, Input>,
): Promise<Outcome> {
  const { ctx, input, claim } = asked;
  if ('writeGrouped' in handler) {
    const outcome = await handler.writeGrouped(ctx, input, {
      claim,
      render: (reply) => render(asked, reply),
    });
    if (outcome.kind !== 'refused') return outcome;
    return runInTransaction(asked, () => Promise.reject(outcome.refusal));
  }
  if ('beforeTransaction' in handler) return runLong(handler, asked);
  if ('write' in handler) {
    return runInTransaction(asked, handler.write, (body) => handler.beforeShownAgain(ctx, JSON.parse(body)));
  }
  return runInTransaction(asked, handler);
}

/** The answer that is stored for the request's key, or null. */
export function findAnswer<Ctx extends Context, Input>(asked: Asked<Ctx, Input>): Promise<Outcome | null> {
  return asked.claim ? findEarlier(asked.ctx.db, storeOf(asked), asked.claim) : Promise.resolve(null);
}

async function runLong<Ctx extends Context, Input>(
  { beforeTransaction }: LongWrite<Ctx, Input, object>,
  asked: Asked<Ctx, Input>,
): Promise<Outcome> {
  const earlier = await findAnswer(asked);
  if (earlier) return earlier;
  const before = beforeTransaction(asked.ctx, asked.input);
  await before.catch(() => {}); // a refusal is stored below, like any other
  return runInTransaction(asked, async (tx) => {
    const said = await before;
    return typeof said === 'function' ? said(tx) : said;
  });
}

async function runInTransaction<Ctx extends Context, Input>(
  asked: Asked<Ctx, Input>,
  write: Write<Ctx, Input, object>,
  beforeShownAgain?: (body: string) => Promise<void>,
): Promise<Outcome> {
  const { ctx, input } = asked;
  let reply: Reply | undefined;
  const outcome = await runOnce(storeOf(asked, beforeShownAgain), async (tx) => {
    const said = await write(tx, ctx, input);
    const answer = render(asked, said);
    await auditWrite(tx, asked, said.changes);
    reply = said;
    return answer;
  });
  await reply?.afterCommit?.();
  return outcome;
}

function storeOf<Ctx extends Context, Input>(
  asked: Asked<Ctx, Input>,
  beforeShownAgain?: (body: string) => Promise<void>,
) {
  const { request, ctx, claim, publicUrl } = asked;
  return {
    db: ctx.db,
    keyring: ctx.keyring,
    claim,
    // Operators' answers are stored under the nil UUID.
    accountUuid: request.account?.uuid ?? lowestUuid,
    renderRefusal(refusal: AppError): Answer {
      request.refusal = refusal;
      const { status, body } = renderError(toAppError(refusal), request.id, publicUrl());
      return { status, location: null, body };
    },
    async onSecretShownAgain(tx: Queryable, body: string): Promise<void> {
      await beforeShownAgain?.(body);
      await auditShownAgain(tx, asked, body);
    },
  };
}

function render<Ctx extends Context, Input>(
  { request, definition, stringify, stringifyOther }: Asked<Ctx, Input>,
  { body, status: other, location, isSecret = false }: Reply,
): Answer {
  request.rendered = body;
  const text = (other === undefined ? stringify : stringifyOther)(body);
  return { status: other ?? definition.status, location: location ?? null, body: text, isSecret };
}
