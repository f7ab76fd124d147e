import { deliveryStates } from '@simplane/contract';
import type { Delivery, Event } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, createTable, printResource } from '../print/table.ts';
import { readTime } from '../read-time.ts';
import { addTail } from './events-tail.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Event>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type }) => type },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
  { title: 'DATA', value: ({ data }) => JSON.stringify(data), cutTo: 16 },
];

const deliveryColumns: Column<Delivery>[] = [
  { title: 'DELIVERY', value: ({ id }) => id },
  { title: 'ENDPOINT', value: ({ webhook_endpoint_id }) => webhook_endpoint_id },
  { title: 'STATUS', value: ({ status }) => status, paint: paintStatus },
];

type Replayed = { event_id: string; deliveries: string[] };

const replayColumns: Column<Replayed>[] = [
  { title: 'EVENT', value: ({ event_id }) => event_id },
  { title: 'DELIVERIES', value: ({ deliveries }) => String(deliveries.length), isRight: true },
];

export function addEvents(program: Command): void {
  const events = program.command('events').description('the event log');
  addList(events);
  addTail(events);
  addGet(events);
  addReplay(events);
}

type ListOptions = {
  limit: number;
  all?: boolean;
  type?: string;
  delivery?: (typeof deliveryStates)[number];
  since?: number;
  until?: number;
  iccid?: string;
  execution?: string;
  reference?: string;
};

function addList(events: Command): void {
  const list = withListOptions(events.command('list').description('list events, newest first'))
    .option('--type <type>', 'only this type, or a family such as esim.*')
    .addOption(
      new Option('--delivery <state>', 'only with a delivery in this state').choices([...deliveryStates]),
    )
    .addOption(new Option('--since <time>', 'at or after: 2h (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'before this time').argParser(readTime))
    .option('--iccid <iccid>', 'only of this eSIM')
    .option('--execution <id>', 'only of this execution (exec_…)')
    .option('--reference <text>', 'only of the order with this reference');
  withAction<ListOptions>(list, ({ client, out }, options) => {
    const filters = {
      ...(options.type !== undefined && { type: options.type }),
      ...(options.delivery && { delivery: options.delivery }),
      ...(options.since !== undefined && { 'created[gte]': options.since }),
      ...(options.until !== undefined && { 'created[lt]': options.until }),
      ...(options.iccid !== undefined && { iccid: options.iccid }),
      ...(options.execution !== undefined && { execution_id: options.execution }),
      ...(options.reference !== undefined && { reference: options.reference }),
    };
    return printList(out, options, (query) => client.events.list({ ...query, ...filters }), {
      columns,
      empty: 'No events. `simplane trigger esim.provisioned` publishes one in a sandbox.',
    });
  });
}

function addGet(events: Command): void {
  const get = events.command('get').description('show one event').argument('<id>', 'event id (evt_…)');
  withAction(get, async ({ client, out }, _, [id = '']) => printEvent(out, await client.events.get(id)));
}

function addReplay(events: Command): void {
  const replay = events
    .command('replay')
    .description('deliver an event again, or up to 100')
    .argument('<id...>', 'event ids (evt_…)')
    .option('--to <id>', 'only to this endpoint (we_…); default: every subscribed endpoint')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { to?: string }>(
    replay,
    async ({ client, out }, options, [id = '', ...others]) => {
      const body = options.to === undefined ? {} : { webhook_endpoint_id: options.to };
      if (others.length > 0) {
        const { data } = await client.events.replayAll(
          { event_ids: [id, ...others], ...body },
          keyOf(options),
        );
        if (out.isJson) for (const one of data) out.json(one);
        else createTable(out, replayColumns)(data);
        return;
      }
      const replayed = await client.events.replay(id, body, keyOf(options));
      if (out.isJson) return out.json(replayed);
      if (replayed.deliveries.length > 0) createTable(out, deliveryColumns)(replayed.deliveries);
      else out.note('No endpoint subscribes to it. `simplane webhooks list` shows the subscriptions.');
    },
  );
}

export function printEvent(out: Output, event: Event): void {
  printResource(out, event, [
    ['ID', event.id],
    ['Type', event.type],
    ['Created', time(event.created)],
    ...Object.entries(event.data).map(
      ([name, value]) => [`· ${name}`, typeof value === 'string' ? value : JSON.stringify(value)] as const,
    ),
  ]);
}
