import type { Queryable } from '../../../platform/db/database.ts';
import type { LockedEsim } from '../../esims/lock.ts';
import { updateQueued } from './update-queued.ts';

export async function updateCountry(
  tx: Queryable,
  esim: LockedEsim,
  seen: { country: string; at: Date },
): Promise<void> {
  const { country, at } = seen;
  if (esim.is_queued) return updateQueued(tx, esim, { country, country_observed_at: at });
  await tx.query(
    {
      name: 'esim_update_country',
      text: `
update esims
set country = $3,
    country_observed_at = $4
where account_id = $1 and id = $2`,
    },
    [esim.account_id, esim.id, country, at],
  );
}
