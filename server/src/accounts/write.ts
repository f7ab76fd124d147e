import type { AppError } from '../platform/app-error.ts';
import type { Queryable } from '../platform/db/database.ts';
import type { Claim } from '../platform/idempotency/claim.ts';
import type { Answer, Outcome } from '../platform/idempotency/outcome.ts';

/** What a write answers. It is rendered, audited and stored in the write's transaction, so all of them commit together. */
export type Reply<Body extends object = object> = {
  body: Body;
  /** Instead of the operation's own. */
  status?: 200;
  location?: string;
  /** The body has a secret that is shown only once: the stored copy is encrypted. */
  isSecret?: boolean;
  /** Details for the audit entry that the operation declares. Null: no entry, as nothing was changed or it was recorded already. */
  changes?: Record<string, unknown> | null | undefined;
  /** Wakes whoever goes on with it. Not called for a repeated request. */
  afterCommit?(): unknown;
};

/** The function of an operation that writes: everything it does through `tx` is done once per idempotency key. */
export type Write<Ctx, Input, Body extends object> = (
  tx: Queryable,
  ctx: Ctx,
  input: Input,
) => Promise<Reply<Body>>;

/** A write whose answer shows a key. The check runs before a repeated request gets the same answer. */
type KeyWrite<Ctx, Input, Body extends object> = {
  write: Write<Ctx, Input, Body>;
  beforeShownAgain(ctx: Ctx, body: Body): Promise<void>;
};

/**
 * A write that first does what takes long, such as a call to another system, while no transaction is open. It may be done twice, so it
 * must be harmless. Returns the answer, or what is left to do in the transaction.
 */
export type LongWrite<Ctx, Input, Body extends object> = {
  beforeTransaction(ctx: Ctx, input: Input): Promise<Reply<Body> | ((tx: Queryable) => Promise<Reply<Body>>)>;
};

/** A write that shares a statement with others, and stores its own answer with it. */
export type GroupedWrite<Ctx, Input, Body extends object> = {
  writeGrouped(
    ctx: Ctx,
    input: Input,
    asked: { claim: Claim | null; render(reply: Reply<Body>): Answer },
  ): Promise<Outcome | { kind: 'refused'; refusal: AppError }>;
};

export type AnyWrite<Ctx, Input, Body extends object = object> =
  | Write<Ctx, Input, Body>
  | KeyWrite<Ctx, Input, Body>
  | LongWrite<Ctx, Input, Body>
  | GroupedWrite<Ctx, Input, Body>;
