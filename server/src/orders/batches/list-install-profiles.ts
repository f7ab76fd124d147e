import type { BatchInstallProfiles, InputFor } from '@simplane/contract';
import { idPrefixes } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { Context } from '../../accounts/context.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { esimMatchingIdPlace } from '../../platform/secrets/sealed-places.ts';
import { describeActivation } from '../esims/activation-code.ts';
import { requireBatch } from './get.ts';
import { type InstallableRow, listInstallable } from './sql.ts';

/** What end users need to install the batch's eSIMs: those that are ready and not terminated. It is secret. */
export async function listBatchInstallProfiles(
  ctx: Context,
  { params }: InputFor<'listBatchInstallProfiles'>,
): Promise<BatchInstallProfiles> {
  const { id: batchUuid, open } = await requireBatch(ctx.db, ctx.account.uuid, params.id);
  await ctx.waitForRoom();
  const rows = await listInstallable(ctx.db, ctx.account.uuid, batchUuid);
  // Before the answer, so that no code is shown without an entry.
  await recordAudit(ctx.db, ctx, {
    accountUuid: ctx.account.uuid,
    action: 'batch.install_profiles_viewed',
    target: { type: 'batch', id: params.id },
    changes: { esims: rows.length },
  });
  const data = await Promise.all(rows.map((row) => presentProfile(ctx, row)));
  return { object: 'batch_install_profiles', batch_id: params.id, open, data };
}

async function presentProfile({ account, keyring }: Context, row: InstallableRow) {
  const { iccid, smdp_address: smdpAddress, confirmation_code_required: confirmationCodeRequired } = row;
  const matchingId = await keyring.open(row.matching_id, esimMatchingIdPlace(account.uuid, iccid));
  const activation = describeActivation({ smdpAddress, matchingId, confirmationCodeRequired });
  return {
    iccid,
    execution_id: idOfUuid(idPrefixes.execution, row.execution_id),
    product_id: row.product_id,
    reference: row.reference,
    lpa: activation.lpa,
    activation_code: activation.activationCode,
    smdp_address: smdpAddress,
    matching_id: matchingId,
    confirmation_code_required: confirmationCodeRequired,
    ios_install_url: activation.iosInstallUrl,
    android_install_url: activation.androidInstallUrl,
  };
}
