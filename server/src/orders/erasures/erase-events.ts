import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { eraseEventBody } from './erase-event.ts';
import {
  deleteAnswersNaming,
  type EventRow,
  eventBatchSize,
  findOrders,
  forgetResponses,
  listEvents,
  listEventsOf,
  listFailuresOf,
  type Place,
  saveBodies,
} from './sql.ts';

/** Events of the account, with what their receivers answered. */
export async function eraseAccountEvents(...[tx, erasure, after]: Place) {
  return rewrite(tx, erasure, await listEvents(tx, erasure.account_id, after ?? lowestUuid));
}

/** Events about the eSIM. */
export async function eraseEventsOf(...[tx, erasure, after]: Place) {
  const { account_id, iccid } = erasure;
  return rewrite(tx, erasure, await listEventsOf(tx, account_id, after ?? lowestUuid, iccid as string));
}

/** A failed attempt to order the eSIM has an event without its ICCID. */
export async function eraseFailedOrdersOf(...[tx, erasure, after]: Place) {
  const { account_id, order_id } = erasure;
  const ids = (await findOrders(tx, account_id, order_id as string)).map(executionId);
  return rewrite(tx, erasure, await listFailuresOf(tx, account_id, after ?? lowestUuid, ids));
}

/** Stored answers to requests about the eSIM. The answer to its order has no ICCID yet. */
export function forgetAnswersAbout(...[tx, { account_id, iccid, order_id }, after]: Place) {
  return deleteAnswersNaming(tx, account_id, after, [iccid as string, executionId(order_id as string)]);
}

const executionId = (uuid: string) => idOfUuid(idPrefixes.execution, uuid);

async function rewrite(tx: Place[0], { account_id }: Place[1], events: EventRow[]): Promise<string | null> {
  const uuids = events.map(({ id }) => id);
  const bodies = events.map(({ type, body, is_test: isTest }) => eraseEventBody({ type, body, isTest }));
  await saveBodies(tx, account_id, uuids, bodies);
  await forgetResponses(tx, account_id, uuids);
  return events.length === eventBatchSize ? (uuids.at(-1) as string) : null;
}
