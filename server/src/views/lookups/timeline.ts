import { type InputFor, idPrefixes, type TimelineEntry } from '@simplane/contract';
import { findOrderRequests } from '../../accounts/audit/find-order-requests.ts';
import type { Context } from '../../accounts/context.ts';
import { type EsimEvent, listEventsOfEsim } from '../../notify/events/list.ts';
import { countDeliveries, type DeliveryCounts } from '../../notify/webhooks/deliveries/list.ts';
import { requireEsim } from '../../orders/esims/get.ts';
import { listExecutionsOfEsim } from '../../orders/executions/list.ts';
import type { ExecutionRow } from '../../orders/executions/present.ts';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import { describeEvent, describeExecution, stepsOf } from './describe-entry.ts';

type Entry =
  | { uuid: string; event: EsimEvent['event']; deliveries: DeliveryCounts }
  | { uuid: string; execution: ExecutionRow; requestId: string | undefined };

/** Ids start with their time, so events and executions merge by id. */
export async function listTimeline(ctx: Context, { params, query }: InputFor<'listTimeline'>) {
  const esim = await requireEsim(ctx.db, ctx.account.uuid, params.iccid);
  const { iccid } = esim;
  return readPage(query, {
    scope: { list: 'timeline_entries', accountId: ctx.account.id, filters: { iccid } },
    async read(beforeUuid, count, maxBytes) {
      const page = { beforeUuid, count, maxBytes };
      const [events, executions] = await Promise.all([
        listEventsOfEsim(ctx.db, ctx.account.uuid, iccid, page),
        listExecutionsOfEsim(ctx.db, esim, page),
      ]);
      // What is older than the last event that was read comes on the next page, with the events between.
      const oldest = events.isCut ? (events.rows.at(-1)?.uuid ?? '') : '';
      const entries = [
        ...events.rows,
        ...executions.filter(({ id }) => id > oldest).map((execution) => ({ uuid: execution.id, execution })),
      ]
        .sort((a, b) => (a.uuid < b.uuid ? 1 : -1))
        .slice(0, count);
      return { rows: await withRequests(ctx, esim, await withDeliveries(ctx, entries)), isCut: events.isCut };
    },
    positionOf: ({ uuid }) => uuid,
    present,
    waitForRoom: ctx.waitForRoom,
  });
}

type Ordered = { uuid: string; execution: ExecutionRow };
type Found = EsimEvent | Ordered;
type Counted = Exclude<Entry, Ordered> | Ordered;

async function withRequests(
  { db }: Context,
  esim: { account_id: string; iccid: string },
  entries: Counted[],
): Promise<Entry[]> {
  const idOf = ({ id }: ExecutionRow) => idOfUuid(idPrefixes.execution, id);
  const executions = entries.flatMap((entry) =>
    'execution' in entry ? [{ id: idOf(entry.execution), createdAt: entry.execution.created_at }] : [],
  );
  const requests = await findOrderRequests(db, esim, executions);
  return entries.map((entry) =>
    'execution' in entry ? { ...entry, requestId: requests.get(idOf(entry.execution)) } : entry,
  );
}

async function withDeliveries({ db, account }: Context, entries: Found[]): Promise<Counted[]> {
  const eventUuids = entries.filter((entry) => 'event' in entry).map(({ uuid }) => uuid);
  const counts = await countDeliveries(db, account.uuid, eventUuids);
  return entries.map((entry) =>
    'event' in entry ? { ...entry, deliveries: counts.get(entry.uuid) as DeliveryCounts } : entry,
  );
}

function present(entry: Entry): TimelineEntry {
  if ('execution' in entry) {
    const { execution, requestId } = entry;
    const id = idOfUuid(idPrefixes.execution, execution.id);
    return {
      id,
      object: 'timeline_entry',
      ...describeExecution(execution.type),
      type: execution.type,
      created: unixSeconds(execution.created_at),
      execution_id: id,
      ...(requestId !== undefined && { request_id: requestId }),
      status: execution.status,
      steps: stepsOf(execution),
    };
  }
  const { id, type, created, data } = entry.event;
  return {
    id,
    object: 'timeline_entry',
    ...describeEvent(type, data),
    type,
    created,
    event_id: id,
    ...(typeof data['execution_id'] === 'string' && { execution_id: data['execution_id'] }),
    deliveries: entry.deliveries,
    data,
  };
}
