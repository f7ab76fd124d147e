import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../context.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { runOnce } from '../idempotency/run-once.ts';
import { mergeMetadata } from '../metadata/merge.ts';
import { lockOwnEsim } from './lock.ts';
import { presentEsim } from './present.ts';
import { updateEsimFields } from './sql/update.ts';

type Input = InputOf<Operations['updateEsim']>;

/** Changes only the given fields, in any status: they are the account's own notes. An empty body changes nothing. */
export function updateEsim(ctx: WriteContext, { params, body }: Input): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const esim = await lockOwnEsim(tx, ctx.account.uuid, params.iccid);
    const changed = {
      ...esim,
      metadata: mergeMetadata(esim.metadata, body.metadata),
      description: body.description === undefined ? esim.description : body.description,
    };
    if (Object.keys(body).length > 0) await updateEsimFields(tx, changed);
    return ctx.render(presentEsim(changed));
  });
}
