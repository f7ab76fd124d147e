import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { eraseAnswerBody, eraseEventBody } from './erase-event.ts';
import {
  answerBatchSize,
  type EventRow,
  eventBatchSize,
  findOrders,
  forgetResponses,
  listAnswers,
  listEvents,
  listEventsOf,
  listFailuresOf,
  type Place,
  saveAnswers,
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

/**
 * Stored answers to requests about the eSIM; that to its order has no ICCID yet. They stay for their day, without personal data: the
 * order must not run again if it is repeated under its key.
 */
export async function eraseAnswersAbout(...[tx, { account_id, iccid, order_id }, after]: Place) {
  const texts = [iccid as string, executionId(order_id as string)];
  const page = await listAnswers(tx, account_id, after ?? '', texts);
  const named = page.flatMap(({ key, body }) => (body === null ? [] : { key, body: eraseAnswerBody(body) }));
  await saveAnswers(
    tx,
    account_id,
    named.map(({ key }) => key),
    named.map(({ body }) => body),
  );
  return page.length === answerBatchSize ? (page.at(-1)?.key ?? null) : null;
}

const executionId = (uuid: string) => idOfUuid(idPrefixes.execution, uuid);

async function rewrite(tx: Place[0], { account_id }: Place[1], events: EventRow[]): Promise<string | null> {
  const uuids = events.map(({ id }) => id);
  const bodies = events.map(({ type, body, is_test: isTest }) => eraseEventBody({ type, body, isTest }));
  await saveBodies(tx, account_id, uuids, bodies);
  await forgetResponses(tx, account_id, uuids);
  return events.length === eventBatchSize ? (uuids.at(-1) as string) : null;
}
