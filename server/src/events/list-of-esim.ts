import type { Event } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import { listEventRows } from './sql/list.ts';

export type EsimEvent = { uuid: string; event: Event };

/** The events of an eSIM, newest first. */
export async function listEventsOfEsim(
  db: Queryable,
  accountUuid: string,
  iccid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<EsimEvent[]> {
  const about = { iccid, execution: undefined };
  const filter = { types: undefined, created: undefined, delivery: undefined, about };
  const rows = await listEventRows(db, accountUuid, filter, page);
  return rows.map(({ id, body }) => ({ uuid: id, event: JSON.parse(body) }));
}
