import { type InputFor, idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lockOwnEsim } from '../esims/lock.ts';
import { writeService } from '../service/write.ts';
import { presentBundle } from './list.ts';
import { cancel, noChange } from './plan.ts';
import { type BundleRow, readBundles } from './sql.ts';
import { applyChange } from './write.ts';

/** Cancels a bundle that has not started. */
export async function cancelBundle(tx: Queryable, ctx: Context, { params }: InputFor<'cancelBundle'>) {
  const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
  const bundles = await readBundles(tx, [esim]);
  const before = bundles.find(({ id }) => idOfUuid(idPrefixes.bundle, id) === params.id);
  if (!before) {
    throw new AppError(
      'resource_missing',
      'The eSIM has no bundle with this id; GET /v1/esims/{iccid}/bundles lists them.',
    );
  }
  if (before.status !== 'queued') {
    throw conflict(`The bundle is ${before.status}. Only a bundle that is queued can be canceled.`);
  }
  const change = cancel(noChange(bundles), before);
  await applyChange(tx, bundles, change, ctx);
  await writeService(tx, [{ esim, bundles: change.bundles }], ctx);
  return {
    body: presentBundle(change.bundles.find(({ id }) => id === before.id) as BundleRow),
    changes: { bundle_id: params.id },
    afterCommit: () => ctx.signals.announce('deliveries', ctx.account.uuid),
  };
}
