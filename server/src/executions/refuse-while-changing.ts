import { idPrefixes } from '@simplane/contract';
import { AppError } from '../app-error.ts';
import type { Queryable } from '../db/database.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { findOpenChange } from './sql.ts';

/** One change of an eSIM at a time: two at once could reach the network in another order than they are written here. */
export async function refuseWhileChanging(tx: Queryable, iccid: string): Promise<void> {
  const open = await findOpenChange(tx, iccid);
  if (!open) return;
  const id = idOfUuid(idPrefixes.execution, open.id);
  throw new AppError(
    'state_conflict',
    `The eSIM is being changed: ${open.type} is under way as ${id}; wait until it has ended.`,
  );
}
