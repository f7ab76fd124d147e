import type { Queryable } from '../../../platform/db/database.ts';
import type { EsimRow } from './rows.ts';

/** Stores metadata and description. The caller holds the eSIM's lock. */
export async function updateEsimFields(tx: Queryable, esim: EsimRow): Promise<void> {
  const values = [esim.account_id, esim.id, JSON.stringify(esim.metadata), esim.description];
  await tx.query(esim.is_queued ? updateQueued : updateStored, values);
}

const updateStored = {
  name: 'esim_update',
  text: `
update esims
set metadata = $3,
    description = $4
where account_id = $1 and id = $2`,
};

// The eSIM gets its own row from the order's input, when the order ends.
const updateQueued = {
  name: 'esim_update_queued',
  text: `
update execution_queue
set input = input || jsonb_build_object('metadata', $3::jsonb, 'description', $4::text)
where account_id = $1 and id = $2`,
};
