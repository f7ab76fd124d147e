import { type DryRun, type Execution, type InputFor, isEid } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { mergeMetadata } from '../../accounts/metadata/merge.ts';
import {
  productInactive,
  productMissing,
  requireActiveProduct,
} from '../../accounts/products/require-active.ts';
import type { GroupedWrite, Reply } from '../../accounts/write.ts';
import { type AppError, invalid } from '../../platform/app-error.ts';
import { confirmationCodePlace } from '../../platform/secrets/sealed-places.ts';
import { acceptExecution } from '../executions/accept.ts';
import { executionLimitReached, requireRoom } from '../executions/limit-open.ts';
import type { Seating } from '../executions/seats.ts';
import { wouldProvision } from './dry-run.ts';

type Input = InputFor<'createEsim'>;

/** Accepts an order for an eSIM and answers with the execution that tracks it. */
export const createEsim: GroupedWrite<Context & Seating, Input, Execution | DryRun> = {
  async writeGrouped(ctx, { body }, asked) {
    const { product_id: productId, eid = null, reference = null } = body;
    const { confirmation_code: code } = body;
    if (eid !== null && !isEid(eid)) return refused(wrongEid('eid'));
    if (body.dry_run) {
      return { kind: 'answered', answer: asked.render(await tryOrder(ctx, productId)), replayed: false };
    }
    const input = (executionUuid: string) => ({
      ...orderInput(body),
      ...(code !== undefined && {
        sealed_confirmation_code: ctx.keyring.seal(
          code,
          confirmationCodePlace(ctx.account.uuid, executionUuid),
        ),
        has_confirmation_code: true,
      }),
    });
    const order = { type: 'esim.provision' as const, productId, reference, input };
    const outcome = await acceptExecution(ctx, order, asked);
    switch (outcome.kind) {
      case 'product_missing':
        return refused(productMissing(productId));
      case 'product_inactive':
        return refused(productInactive(productId));
      case 'over_limit':
        return refused(executionLimitReached(ctx.account.limits.openExecutions ?? 0));
      default:
        return outcome;
    }
  },
};

/** Checks in the same order as accepting does: the limit is found before the product. */
async function tryOrder(ctx: Context, productId: string): Promise<Reply<DryRun>> {
  await requireRoom(ctx, ctx.db, { isDryRun: true });
  return wouldProvision(ctx.db, [{ product: await requireActiveProduct(ctx.db, productId), quantity: 1 }]);
}

function refused(refusal: AppError) {
  return { kind: 'refused' as const, refusal };
}

type Described = Pick<Input['body'], 'metadata' | 'description' | 'eid' | 'reference'>;

/** What an execution keeps of an order. */
export function orderInput({ metadata, description = null, eid = null, reference = null }: Described) {
  return {
    metadata: mergeMetadata({}, metadata),
    description,
    ...(eid !== null && { eid }),
    ...(reference !== null && { reference }),
  };
}

export function wrongEid(param: string): AppError {
  return invalid(
    param,
    `${param} has the wrong check digits: at least one of its 32 digits is wrong. Read it again from the device.`,
  );
}
