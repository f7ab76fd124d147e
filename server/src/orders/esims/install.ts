import type { EsimStatus, InstallProfile } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { Author, Context } from '../../accounts/context.ts';
import { AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import { esimMatchingIdPlace } from '../../platform/secrets/sealed-places.ts';
import { describeActivation } from './activation-code.ts';
import { noSuchEsim } from './get.ts';
import { withError } from './present.ts';
import { dataUri, drawQr } from './qr.ts';
import { type EsimRow, findEsim } from './sql/esims.ts';

/** What an end user needs to install the eSIM. It is secret: only this operation and the page of an install link show it. */
export async function getInstallProfile(
  ctx: Context,
  { params }: { params: { iccid: string } },
): Promise<InstallProfile> {
  const row = await findEsim(ctx.db, ctx.account.uuid, params.iccid);
  if (!row) throw noSuchEsim(params.iccid);
  return showInstallProfile(ctx, row);
}

type Viewer = Author & { db: Queryable; keyring: Keyring };

/** `seenBy`: for the audit entry, if it was not a key. */
export async function showInstallProfile(
  ctx: Viewer,
  row: EsimRow,
  seenBy?: Record<string, string>,
): Promise<InstallProfile> {
  requireInstallable(row.status);
  const { smdp_address: smdpAddress, matching_id: sealed } = row;
  if (smdpAddress === null || sealed === null) {
    throw new Error(`the eSIM ${row.iccid} is ${row.status} and has no activation code`);
  }
  const matchingId = await ctx.keyring.open(sealed, esimMatchingIdPlace(row.account_id, row.iccid));
  // Before the answer, so that no code is shown without an entry.
  await recordAudit(ctx.db, ctx, {
    accountUuid: row.account_id,
    action: 'esim.install_profile_viewed',
    target: { type: 'esim', id: row.iccid },
    ...(seenBy && { changes: seenBy }),
  });
  return presentInstallProfile(row, { smdpAddress, matchingId });
}

/** Throws unless an eSIM in this status can be installed. */
export function requireInstallable(status: EsimStatus): void {
  const refusal = refusalFor(status);
  if (refusal) throw refusal;
}

function refusalFor(status: EsimStatus): AppError | null {
  switch (status) {
    case 'provisioning':
      return new AppError(
        'esim_not_ready',
        'The eSIM is still provisioning; wait for its esim.provisioned event, or until its execution has succeeded.',
      );
    case 'failed':
      return new AppError(
        'esim_not_ready',
        'The order of this eSIM failed, so it will never be ready. The eSIM’s timeline shows why. Order another eSIM.',
      );
    case 'terminated':
      return conflict(
        'The eSIM is terminated, which is final: it can no longer be installed. Order another eSIM.',
      );
    case 'provisioned':
    case 'active':
    case 'suspended':
      return null;
  }
}

function presentInstallProfile(
  row: EsimRow,
  { smdpAddress, matchingId }: { smdpAddress: string; matchingId: string },
): InstallProfile {
  const confirmationCodeRequired = row.confirmation_code_required;
  const activation = describeActivation({ smdpAddress, matchingId, confirmationCodeRequired });
  const { svg, png } = drawQr(activation.lpa);
  return {
    object: 'install_profile',
    iccid: row.iccid,
    lpa: activation.lpa,
    activation_code: activation.activationCode,
    smdp_address: smdpAddress,
    matching_id: matchingId,
    confirmation_code_required: confirmationCodeRequired,
    qr: { svg: dataUri(svg), png: dataUri(png) },
    ios_install_url: activation.iosInstallUrl,
    android_install_url: activation.androidInstallUrl,
    profile_state: row.profile_state,
    ...withError('profile_error', row),
  };
}
