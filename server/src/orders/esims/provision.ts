import { type InputOf, isEid, type Operations } from '@simplane/contract';
import type { WriteContext } from '../../accounts/context.ts';
import { mergeMetadata } from '../../accounts/metadata/merge.ts';
import { productInactive, productMissing } from '../../accounts/products/require-active.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Outcome } from '../../platform/idempotency/outcome.ts';
import { refuseOnce } from '../../platform/idempotency/run-once.ts';
import { confirmationCodePlace } from '../../platform/secrets/sealed-places.ts';
import { acceptExecution } from '../executions/accept.ts';
import { executionLimitReached } from '../executions/limit-open.ts';
import { announce } from '../executions/start.ts';

/** Accepts an order for an eSIM and answers with the execution that tracks it. */
export async function provisionEsim(
  ctx: WriteContext,
  { body }: InputOf<Operations['createEsim']>,
): Promise<Outcome> {
  const { product_id: productId, metadata, description = null, eid = null, confirmation_code: code } = body;
  if (eid !== null && !isEid(eid)) return refuseOnce(ctx, wrongEid());
  const outcome = await acceptExecution(ctx, {
    type: 'esim.provision',
    productId,
    input: (executionUuid) => ({
      metadata: mergeMetadata({}, metadata),
      description,
      ...(eid !== null && { eid }),
      ...(code !== undefined && {
        sealed_confirmation_code: ctx.keyring.seal(
          code,
          confirmationCodePlace(ctx.account.uuid, executionUuid),
        ),
        has_confirmation_code: true,
      }),
    }),
  });
  switch (outcome.kind) {
    case 'product_missing':
      return refuseOnce(ctx, productMissing(productId));
    case 'product_inactive':
      return refuseOnce(ctx, productInactive(productId));
    case 'over_limit':
      return refuseOnce(ctx, executionLimitReached(ctx.account.limits.openExecutions ?? 0));
    default:
      return announce(ctx, outcome);
  }
}

function wrongEid(): AppError {
  return new AppError(
    'parameter_invalid',
    'eid has the wrong check digits: at least one of its 32 digits is wrong. Read it again from the device.',
    { param: 'eid' },
  );
}
