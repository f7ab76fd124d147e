import type { InputFor } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { changedNames, mergeMetadata } from '../../accounts/metadata/merge.ts';
import { conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { type LockedEsim, lockOwnEsim } from './lock.ts';
import { presentEsim } from './present.ts';
import { updateEsimFields } from './sql/esims.ts';

type Input = InputFor<'updateEsim'>;

/** Changes only the given fields, in any status: they are the account's own notes. An empty body changes nothing. */
export async function updateEsim(tx: Queryable, ctx: Context, { params, body }: Input) {
  const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
  if (esim.erased_at) {
    throw conflict('The eSIM was erased, so it takes no metadata and no description.');
  }
  const changed = {
    ...esim,
    metadata: mergeMetadata(esim.metadata, body.metadata),
    description: body.description === undefined ? esim.description : body.description,
  };
  if (Object.keys(body).length > 0) await updateEsimFields(tx, changed);
  return { body: presentEsim(changed), changes: describeUpdate(esim, changed) };
}

/** For the audit entry. Notes may name the eSIM's user, so only what changed is told, without values. */
function describeUpdate(before: LockedEsim, after: LockedEsim): Record<string, unknown> {
  const names = changedNames(before.metadata, after.metadata);
  return {
    ...(names.length > 0 && { metadata: { changed: names } }),
    ...(before.description !== after.description && { description: { changed: true } }),
  };
}
