import type { EventConsumer } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { pathsOf } from '../../../accounts/deployment.ts';
import { AppError } from '../../../platform/app-error.ts';
import { clip } from '../../../platform/telemetry/clip.ts';
import type { Feed } from '../find-place.ts';
import { presentConsumer } from './present.ts';
import { type ConsumerRow, findConsumerRow } from './sql.ts';

export async function getEventConsumer(
  ctx: Context,
  { params }: { params: { name: string } },
): Promise<EventConsumer> {
  return presentConsumer(ctx, await findConsumer(ctx, params.name));
}

/** Throws if the account has no such consumer. */
export async function findConsumer(
  { db, account }: Feed,
  name: string,
  param = 'name',
): Promise<ConsumerRow> {
  const row = await findConsumerRow(db, account.uuid, name);
  if (!row) throw noSuchConsumer(account, name, param);
  return row;
}

export function noSuchConsumer(account: Feed['account'], name: string, param = 'name'): AppError {
  return new AppError(
    'resource_missing',
    `No event consumer has the name "${clip(name)}". Create it with PUT ${pathsOf(account)}/event_consumers/{name}.`,
    { param },
  );
}
