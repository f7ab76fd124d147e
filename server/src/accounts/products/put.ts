import { depletionProblem, type InputFor, productIdPattern } from '@simplane/contract';
import { AppError, invalid } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { hasIccidRanges } from '../../platform/processes/read-reports.ts';
import type { OperatorContext } from '../context.ts';
import { presentCatalogProduct } from './present.ts';
import type { GivenProduct } from './sql.ts';
import { auditProduct, type Written, writeProducts } from './write-products.ts';

/** Creates a product or replaces all of it, like a row of the catalog file. */
export async function putCatalogProduct(
  tx: Queryable,
  ctx: OperatorContext,
  { params: { id }, body }: InputFor<'putCatalogProduct'>,
) {
  if (!new RegExp(productIdPattern).test(id)) {
    throw invalid(
      'id',
      'id must have 1 to 100 letters, digits, "_", "." and "-", and begin with a letter or a digit.',
    );
  }
  const problem = body.after_depletion && depletionProblem(body.after_depletion);
  if (problem) {
    throw invalid('after_depletion.kbps', `after_depletion ${problem}.`);
  }
  const { active = true, listed = true, profile_type = null, ...fields } = body;
  const product = { id, ...fields, active, listed, profile_type };
  if (ctx.mode === 'live') await requireProfileType(tx, product);
  const [written] = (await writeProducts(tx, ctx, [product])) as [Written];
  await auditProduct(tx, ctx, written);
  return { body: presentCatalogProduct(written.after), changes: null };
}

/** Without it, or an ICCID of ours, the SM-DP+ does not know what to reserve, and every order would fail. */
async function requireProfileType(tx: Queryable, product: GivenProduct): Promise<void> {
  if (!product.active || product.profile_type !== null) return;
  if (await hasIccidRanges(tx)) return;
  throw new AppError(
    'parameter_missing',
    'profile_type is required: no order could succeed without it, since no running worker has SIMPLANE_ICCID_RANGES. Send ' +
      'the SM-DP+’s name for these profiles, or send active as false.',
    { param: 'profile_type' },
  );
}
