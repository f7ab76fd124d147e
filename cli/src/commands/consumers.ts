import type { EventConsumer } from '@simplane/contract';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printResource } from '../print/table.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';
import { readEventTypes } from './webhooks.ts';

const columns: Column<EventConsumer>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'BEHIND', value: ({ behind }) => String(behind), isRight: true },
  {
    title: 'OLDEST UNACKNOWLEDGED',
    value: ({ oldest_unacknowledged_at: oldest }) => time(oldest),
    isSecondary: true,
  },
  { title: 'TYPES', value: typesOf, cutTo: 10 },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
];

export function addConsumers(program: Command): void {
  const consumers = program.command('consumers').description('named places in the event feed');
  addListAndGet(consumers);
  addCreate(consumers);
  addSeek(consumers);
  addDelete(consumers);
}

function addListAndGet(consumers: Command): void {
  const list = withListOptions(
    consumers.command('list').description('list consumers and how far behind they are'),
  );
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.consumers.list(query), {
      columns,
      empty: 'No consumers. `simplane consumers create <name>` creates one.',
    }),
  );

  const get = named(consumers.command('get').description('show one consumer'));
  withAction(get, async ({ client, out }, _, [name = '']) =>
    printConsumer(out, await client.consumers.get(name)),
  );
}

type CreateOptions = WriteOptions & { after?: string; type?: string[] };

function addCreate(consumers: Command): void {
  const create = named(
    consumers.command('create').description('create a consumer; an existing one is not changed'),
  )
    .option('--after <place>', 'where it begins: a cursor, start or now (default)')
    .addOption(
      new Option('--type <types>', 'only these types, such as esim.*,bundle.depleted').argParser(
        readEventTypes,
      ),
    )
    .addOption(idempotencyKeyOption());
  withAction<CreateOptions>(create, async ({ client, out }, options, [name = '']) => {
    const { after, type } = options;
    const body = { ...(after !== undefined && { after }), ...(type && { type }) };
    printConsumer(out, await client.consumers.create(name, body, keyOf(options)));
  });
}

function addSeek(consumers: Command): void {
  const seek = named(consumers.command('seek').description('move a consumer, back or forward'))
    .addOption(new Option('--after <place>', 'where to: a cursor, start or now').makeOptionMandatory())
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { after: string }>(seek, async ({ client, out }, options, [name = '']) =>
    printConsumer(out, await client.consumers.seek(name, { after: options.after }, keyOf(options))),
  );
}

function addDelete(consumers: Command): void {
  const remove = named(
    consumers.command('delete').description('delete a consumer and its place; no events are deleted'),
  ).addOption(idempotencyKeyOption());
  withAction<WriteOptions>(remove, async ({ client, out }, options, [name = '']) => {
    const deleted = await client.consumers.delete(name, keyOf(options));
    if (out.isJson) return out.json(deleted);
    out.line(`Deleted ${deleted.name}.`);
  });
}

function named(command: Command): Command {
  return command.argument('<name>', 'name of the consumer');
}

function typesOf({ type }: EventConsumer): string {
  return type === null ? '*' : type.join(',');
}

function printConsumer(out: Output, consumer: EventConsumer): void {
  printResource(out, consumer, [
    ['Name', consumer.name],
    ['Types', typesOf(consumer)],
    ['Behind', `${consumer.behind} ${consumer.behind === 1 ? 'event' : 'events'}`],
    ['Oldest unacknowledged', time(consumer.oldest_unacknowledged_at)],
    ['Cursor', consumer.cursor],
    ['Created', time(consumer.created)],
  ]);
}
