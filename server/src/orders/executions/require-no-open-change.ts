import { idPrefixes } from '@simplane/contract';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { findOpenChange } from './sql/executions.ts';

/** One change per eSIM at a time: two at once could reach the network in a different order than the database. */
export async function requireNoOpenChange(
  tx: Queryable,
  { account_id, iccid }: { account_id: string; iccid: string },
): Promise<void> {
  const open = await findOpenChange(tx, account_id, iccid);
  if (!open) return;
  const id = idOfUuid(idPrefixes.execution, open.id);
  throw new AppError(
    'state_conflict',
    `Another change of this eSIM is running: ${open.type}, execution ${id}. Wait until it has finished.`,
  );
}
