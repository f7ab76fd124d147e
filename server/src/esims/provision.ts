import type { InputOf, Operations } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { WriteContext } from '../context.ts';
import { acceptExecution } from '../executions/accept.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { refuseOnce } from '../idempotency/run-once.ts';

/** Accepts the order for an eSIM; the execution it answers with tells how the order goes on. */
export async function provisionEsim(
  ctx: WriteContext,
  { body }: InputOf<Operations['createEsim']>,
): Promise<Outcome> {
  const { product_id: productId, metadata = {}, description = null } = body;
  const outcome = await acceptExecution(ctx, {
    type: 'esim.provision',
    productId,
    input: { metadata, description },
  });
  switch (outcome.kind) {
    case 'product_missing':
      return refuseOnce(
        ctx,
        new AppError(
          'resource_missing',
          `No product has the id "${productId}"; GET /v1/products lists them.`,
          {
            param: 'product_id',
          },
        ),
      );
    case 'product_inactive':
      return refuseOnce(
        ctx,
        new AppError(
          'state_conflict',
          `The product "${productId}" is not active: it can no longer be provisioned.`,
          {
            param: 'product_id',
          },
        ),
      );
    default:
      return outcome;
  }
}
