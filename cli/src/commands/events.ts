import type { Delivery, Event } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, createTable, printThing } from '../print/table.ts';
import { readTime } from '../read-time.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Event>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'CREATED', of: ({ created }) => time(created) },
  { title: 'DATA', of: ({ data }) => JSON.stringify(data) },
];

const deliveryColumns: Column<Delivery>[] = [
  { title: 'DELIVERY', of: ({ id }) => id },
  { title: 'ENDPOINT', of: ({ webhook_endpoint_id }) => webhook_endpoint_id },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
];

export function addEvents(program: Command): void {
  const events = program.command('events').description('the log of what happened');
  addList(events);
  addGet(events);
  addReplay(events);
}

type ListOptions = {
  limit: number;
  all?: boolean;
  type?: string;
  delivery?: 'failed' | 'pending';
  since?: number;
  until?: number;
};

function addList(events: Command): void {
  const list = withListOptions(events.command('list').description('list them, newest first'))
    .option('--type <type>', 'only one type, or a family such as esim.*')
    .addOption(
      new Option('--delivery <state>', 'only with a delivery that is so').choices(['failed', 'pending']),
    )
    .addOption(new Option('--since <time>', 'such as 2h (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'before then').argParser(readTime));
  withAction<ListOptions>(list, ({ client, out }, options) => {
    const filters = {
      ...(options.type !== undefined && { type: options.type }),
      ...(options.delivery && { delivery: options.delivery }),
      ...(options.since !== undefined && { 'created[gte]': options.since }),
      ...(options.until !== undefined && { 'created[lt]': options.until }),
    };
    return printList(out, options, (query) => client.events.list({ ...query, ...filters }), {
      columns,
      empty: 'No events. `simplane trigger esim.provisioned` makes one in a sandbox.',
    });
  });
}

function addGet(events: Command): void {
  const get = events.command('get').description('show one').argument('<id>', 'evt_…');
  withAction(get, async ({ client, out }, _, [id = '']) => printEvent(out, await client.events.get(id)));
}

function addReplay(events: Command): void {
  const replay = events
    .command('replay')
    .description('deliver one again')
    .argument('<id>', 'evt_…')
    .option('--to <id>', 'only to this endpoint (we_…); to all that subscribe when left out')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { to?: string }>(replay, async ({ client, out }, options, [id = '']) => {
    const body = options.to === undefined ? {} : { webhook_endpoint_id: options.to };
    const replayed = await client.events.replay(id, body, keyOf(options));
    if (out.isJson) return out.json(replayed);
    if (replayed.deliveries.length > 0) createTable(out, deliveryColumns)(replayed.deliveries);
    else out.note('Nobody subscribes to it now. `simplane webhooks list` shows who subscribes to what.');
  });
}

export function printEvent(out: Output, event: Event): void {
  printThing(out, event, [
    ['ID', event.id],
    ['Type', event.type],
    ['Created', time(event.created)],
    ...Object.entries(event.data).map(
      ([name, value]) => [`· ${name}`, typeof value === 'string' ? value : JSON.stringify(value)] as const,
    ),
  ]);
}
