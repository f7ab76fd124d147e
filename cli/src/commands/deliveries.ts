import { deliveryStatuses } from '@simplane/contract';
import type { Delivery } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printResource } from '../print/table.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Delivery>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status, paint: paintStatus },
  { title: 'TRIES', value: ({ attempt_count }) => String(attempt_count), isRight: true },
  { title: 'LAST', value: lastOutcome, cutTo: 10 },
  { title: 'EVENT', value: ({ event_id }) => event_id },
  { title: 'ENDPOINT', value: ({ webhook_endpoint_id }) => webhook_endpoint_id, isSecondary: true },
  { title: 'BLOCKED BY', value: ({ blocked_by }) => blocked_by ?? none, isSecondary: true },
  { title: 'CREATED', value: ({ created }) => time(created), isSecondary: true },
];

export function addDeliveries(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description('events sent to endpoints, with every attempt');
  addList(deliveries);

  const get = deliveries
    .command('get')
    .description('show one delivery and its attempts')
    .argument('<id>', 'delivery id (dlv_…)');
  withAction(get, async ({ client, out }, _, [id = '']) =>
    printDelivery(out, await client.deliveries.get(id)),
  );

  const retry = deliveries
    .command('retry')
    .description('retry a delivery now, unless it has succeeded')
    .argument('<id>', 'delivery id (dlv_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(retry, async ({ client, out }, options, [id = '']) =>
    printDelivery(out, await client.deliveries.retry(id, keyOf(options))),
  );

  const skip = deliveries
    .command('skip')
    .description('cancel a pending delivery, so that those it blocks continue')
    .argument('<id>', 'delivery id (dlv_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(skip, async ({ client, out }, options, [id = '']) =>
    printDelivery(out, await client.deliveries.skip(id, keyOf(options))),
  );
}

type ListOptions = {
  limit: number;
  all?: boolean;
  endpoint?: string;
  event?: string;
  status?: Delivery['status'];
};

function addList(deliveries: Command): void {
  const list = withListOptions(
    deliveries.command('list').description('list deliveries of one endpoint or one event'),
  )
    .option('--endpoint <id>', 'deliveries to this endpoint (we_…)')
    .option('--event <id>', 'deliveries of this event (evt_…)')
    .addOption(
      new Option('--status <status>', 'only with this status; needs --endpoint').choices([
        ...deliveryStatuses,
      ]),
    );
  withAction<ListOptions>(list, async ({ client, out }, options) => {
    const { endpoint, event, status } = options;
    if ((endpoint === undefined) === (event === undefined)) {
      throw usageError('Give either --endpoint or --event.', '`simplane webhooks list` shows the endpoints.');
    }
    if (event !== undefined && status) throw usageError('--status needs --endpoint.');
    await printList(
      out,
      options,
      (query) =>
        event === undefined
          ? client.webhookEndpoints.listDeliveries(endpoint as string, {
              ...query,
              ...(status && { status }),
            })
          : client.events.listDeliveries(event, query),
      {
        columns,
        empty: 'No deliveries. `simplane trigger esim.provisioned` publishes an event in a sandbox.',
      },
    );
  });
}

function lastOutcome({ attempts }: Delivery): string {
  const last = attempts.at(-1);
  return last ? (last.error ?? String(last.status_code)) : none;
}

function printDelivery(out: Output, delivery: Delivery): void {
  printResource(out, delivery, [
    ['ID', delivery.id],
    ['Status', delivery.status, paintStatus],
    ['Event', delivery.event_id],
    ['Endpoint', delivery.webhook_endpoint_id],
    ['Origin', delivery.origin],
    ['Created', time(delivery.created)],
    ['Next attempt', time(delivery.next_attempt_at)],
    ...(delivery.blocked_by === null ? [] : [['Blocked by', delivery.blocked_by] as const]),
    ...delivery.attempts.map(({ at, duration_ms: duration, status_code: status, error }, index) => {
      const outcome = [status, error].filter((part) => part !== null).join(', ');
      return [`· attempt ${index + 1}`, `${time(at)}  ${outcome}, ${duration} ms`] as const;
    }),
  ]);
}
