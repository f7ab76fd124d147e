import type { Event } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import type { CutRows } from '../../platform/lists/read-page.ts';
import { type EventPage, listEventRows } from './sql/events.ts';

export type EsimEvent = { uuid: string; event: Event };

/** The events of an eSIM, newest first. */
export async function listEventsOfEsim(
  db: Queryable,
  accountUuid: string,
  iccid: string,
  page: EventPage,
): Promise<CutRows<EsimEvent>> {
  const about = { iccid, execution: undefined };
  const filter = { types: undefined, created: undefined, delivery: undefined, about };
  const { rows, isCut } = await listEventRows(db, accountUuid, filter, page);
  return { rows: rows.map(({ id, body }) => ({ uuid: id, event: JSON.parse(body) })), isCut };
}
