import { attemptOutcomes, missedCountLimit, orderings } from '@simplane/contract';
import type { DeliveryAttempt, WebhookEndpoint, WebhookEndpointStats } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { positiveInteger, printList, readPairs, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, createTable, type Field, printResource } from '../print/table.ts';
import { readDuration } from '../read-time.ts';
import { collect } from './esims.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';
import { addRecover, addUndelivered } from './webhook-recovery.ts';

const columns: Column<WebhookEndpoint>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATUS', value: stateOf, paint: paintStatus },
  { title: 'MISSED', value: missedOf, isRight: true },
  { title: 'ORDERING', value: ({ ordering }) => ordering, isSecondary: true },
  { title: 'EVENTS', value: ({ enabled_event_types: types }) => types.join(','), cutTo: 10 },
  { title: 'URL', value: ({ url }) => url, cutTo: 16 },
  { title: 'DESCRIPTION', value: ({ description }) => description ?? '', cutTo: 11, isSecondary: true },
];

/** An enabled endpoint whose attempts fail is not well, and may soon be disabled. */
function stateOf({ status, failing_since: since }: WebhookEndpoint): string {
  return status === 'enabled' && since !== null ? 'failing' : status;
}

function missedOf({ missed_count: count }: WebhookEndpoint): string {
  return count < missedCountLimit ? String(count) : `${count}+`;
}

type Hour = WebhookEndpointStats['hours'][number];

const statsColumns: Column<Hour>[] = [
  { title: 'HOUR', value: ({ hour }) => time(hour) },
  { title: 'SUCCEEDED', value: ({ succeeded_count }) => String(succeeded_count), isRight: true },
  { title: 'FAILED', value: ({ failed_count }) => String(failed_count), isRight: true },
  { title: 'P50 MS', value: ({ p50_ms }) => String(p50_ms), isRight: true },
  { title: 'P99 MS', value: ({ p99_ms }) => String(p99_ms), isRight: true },
];

export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('endpoints that receive events');
  addCreate(webhooks);
  addListAndGet(webhooks);
  addUpdate(webhooks);
  addEnable(webhooks);
  addRotateSecret(webhooks);
  addRecover(webhooks);
  addUndelivered(webhooks);
  addProbe(webhooks);
  addStats(webhooks);
  addAttempts(webhooks);
  addDelete(webhooks);
}

/** `esim.provisioned,bundle.*` */
export function readEventTypes(text: string): string[] {
  return text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
}

export function eventsOption(): Option {
  return new Option(
    '--events <types>',
    'comma-separated: esim.provisioned, bundle.*, or * for all',
  ).argParser(readEventTypes);
}

function orderingOption(): Option {
  return new Option('--ordering <ordering>', 'esim: deliver the events of each eSIM in order').choices([
    ...orderings,
  ]);
}

type CreateOptions = WriteOptions & {
  events: string[];
  description?: string;
  ordering?: WebhookEndpoint['ordering'];
  metadata: string[];
};

function addCreate(webhooks: Command): void {
  const create = webhooks
    .command('create')
    .description('register a URL and print its signing secret, once')
    .argument('<url>', 'URL that receives deliveries')
    .addOption(eventsOption().default(['*'], '*'))
    .option('--description <text>', 'a note, visible only to your account')
    .addOption(orderingOption())
    .option('--metadata <name=value>', 'your own data; repeatable', collect, [])
    .addOption(idempotencyKeyOption());
  withAction<CreateOptions>(create, async ({ client, out }, options, [url = '']) => {
    const body = {
      url,
      enabled_event_types: options.events,
      ...(options.description !== undefined && { description: options.description }),
      ...(options.ordering && { ordering: options.ordering }),
      ...(options.metadata.length > 0 && { metadata: readPairs('--metadata', options.metadata) }),
    };
    printEndpoint(out, await client.webhookEndpoints.create(body, keyOf(options)));
  });
}

function addListAndGet(webhooks: Command): void {
  const list = withListOptions(webhooks.command('list').description('list endpoints'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.webhookEndpoints.list(query), {
      columns,
      empty: 'No webhook endpoints. `simplane webhooks create <url>` registers one.',
    }),
  );

  const get = webhooks.command('get').description('show one endpoint').argument('<id>', 'endpoint id (we_…)');
  withAction(get, async ({ client, out }, _, [id = '']) =>
    printEndpoint(out, await client.webhookEndpoints.get(id)),
  );
}

type UpdateOptions = WriteOptions & {
  url?: string;
  events?: string[];
  description?: string;
  ordering?: WebhookEndpoint['ordering'];
  metadata: string[];
  status?: WebhookEndpoint['status'];
};

function addUpdate(webhooks: Command): void {
  const update = webhooks
    .command('update')
    .description('change an endpoint; only the given options change')
    .argument('<id>', 'endpoint id (we_…)')
    .option('--url <url>', 'URL that receives deliveries')
    .addOption(eventsOption())
    .option('--description <text>', 'a note, visible only to your account')
    .addOption(orderingOption())
    .option('--metadata <name=value>', 'your own data; repeatable; `name=` removes it', collect, [])
    .addOption(new Option('--status <status>', 'stop or resume deliveries').choices(['enabled', 'disabled']))
    .addOption(idempotencyKeyOption());
  withAction<UpdateOptions>(update, async ({ client, out }, options, [id = '']) => {
    const { url, events, description, ordering, metadata, status } = options;
    const body = {
      ...(url !== undefined && { url }),
      ...(events && { enabled_event_types: events }),
      ...(description !== undefined && { description }),
      ...(ordering && { ordering }),
      ...(metadata.length > 0 && { metadata: readPairs('--metadata', metadata) }),
      ...(status && { status }),
    };
    if (Object.keys(body).length === 0) {
      throw usageError('Nothing to change.', '`simplane webhooks update --help` lists the options.');
    }
    printEndpoint(out, await client.webhookEndpoints.update(id, body, keyOf(options)));
  });
}

function addEnable(webhooks: Command): void {
  const enable = webhooks
    .command('enable')
    .description('enable a disabled endpoint, once its problem is fixed')
    .argument('<id>', 'endpoint id (we_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(enable, async ({ client, out }, options, [id = '']) => {
    const endpoint = await client.webhookEndpoints.enable(id, keyOf(options));
    printEndpoint(out, endpoint);
    if (endpoint.missed_count > 0) {
      out.note(out.noteColors.dim(`To deliver what it missed: simplane webhooks recover ${id}`));
    }
  });
}

function addRotateSecret(webhooks: Command): void {
  const rotate = webhooks
    .command('rotate-secret')
    .description('create a new signing secret; both secrets sign until the old one expires')
    .argument('<id>', 'endpoint id (we_…)')
    .addOption(
      new Option(
        '--expires-in <duration>',
        'time until the old secret expires: such as 1h, at most 7d, 0 for immediately',
      ).argParser(readDuration),
    )
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { expiresIn?: number }>(rotate, async ({ client, out }, options, [id = '']) => {
    const body = options.expiresIn === undefined ? {} : { expires_in: options.expiresIn };
    printEndpoint(out, await client.webhookEndpoints.rotateSecret(id, body, keyOf(options)));
  });
}

function addProbe(webhooks: Command): void {
  const probe = webhooks
    .command('probe')
    .description('send one signed test request now; works for a disabled endpoint too')
    .argument('<id>', 'endpoint id (we_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(probe, async ({ client, out }, options, [id = '']) => {
    const sent = await client.webhookEndpoints.probe(id, keyOf(options));
    printResource(out, sent, [
      ['Outcome', sent.outcome, paintStatus],
      ['Result', answerOf(sent)],
      ['Duration', `${sent.duration_ms} ms`],
      ['Response', sent.response ?? none],
      ['Event', sent.event_id],
    ]);
  });
}

function addStats(webhooks: Command): void {
  const stats = webhooks
    .command('stats')
    .description('show attempts and their durations per hour')
    .argument('<id>', 'endpoint id (we_…)')
    .addOption(new Option('--hours <n>', 'hours to look back').default(24).argParser(positiveInteger));
  withAction<{ hours: number }>(stats, async ({ client, out }, { hours }, [id = '']) => {
    const read = await client.webhookEndpoints.stats(id, { hours });
    if (out.isJson) return out.json(read);
    if (read.hours.length === 0) return out.note(`No attempts since ${time(read.from)}.`);
    createTable(out, statsColumns)(read.hours);
  });
}

const attemptColumns: Column<DeliveryAttempt>[] = [
  { title: 'AT', value: ({ at }) => time(at) },
  { title: 'OUTCOME', value: ({ outcome }) => outcome, paint: paintStatus },
  { title: 'ANSWER', value: answerOf, cutTo: 10 },
  { title: 'MS', value: ({ duration_ms }) => String(duration_ms), isRight: true },
  { title: 'TRY', value: ({ number }) => String(number), isRight: true },
  { title: 'DELIVERY', value: ({ delivery_id }) => delivery_id },
  { title: 'EVENT', value: ({ event_id }) => event_id, isSecondary: true },
];

function addAttempts(webhooks: Command): void {
  const attempts = withListOptions(
    webhooks
      .command('attempts')
      .description('list single attempts, those of the newest delivery first')
      .argument('<id>', 'endpoint id (we_…)')
      .addOption(new Option('--outcome <outcome>', 'only these').choices([...attemptOutcomes])),
  );
  type Options = { limit: number; all?: boolean; outcome?: DeliveryAttempt['outcome'] };
  withAction<Options>(attempts, ({ client, out }, options, [id = '']) => {
    const filter = options.outcome === undefined ? {} : { outcome: options.outcome };
    return printList(out, options, (query) => client.webhookEndpoints.attempts(id, { ...query, ...filter }), {
      columns: attemptColumns,
      empty: 'No attempts.',
    });
  });
}

function answerOf({
  status_code: status,
  error,
}: {
  status_code: number | null;
  error: string | null;
}): string {
  return status === null ? (error ?? none) : `HTTP ${status}`;
}

function addDelete(webhooks: Command): void {
  const remove = webhooks
    .command('delete')
    .description('delete an endpoint and cancel its pending deliveries')
    .argument('<id>', 'endpoint id (we_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(remove, async ({ client, out }, options, [id = '']) => {
    const deleted = await client.webhookEndpoints.delete(id, keyOf(options));
    if (out.isJson) return out.json(deleted);
    out.line(`Deleted ${deleted.id}.`);
  });
}

function printEndpoint(out: Output, endpoint: WebhookEndpoint): void {
  printResource(out, endpoint, [
    ['ID', endpoint.id],
    ['URL', endpoint.url],
    ['Events', endpoint.enabled_event_types.join(', ')],
    ['Status', endpoint.status, paintStatus],
    ...(endpoint.disabled_at === null ? [] : [['Disabled at', time(endpoint.disabled_at)] as const]),
    ...(endpoint.disabled_reason ? [['Disabled', endpoint.disabled_reason] as const] : []),
    ...health(endpoint),
    ['Ordering', endpoint.ordering],
    ['Description', endpoint.description ?? none],
    ['Created', time(endpoint.created)],
    ...endpoint.secrets
      .slice(1)
      .map(({ expires_at: at }) => ['Old secret', `signs until ${time(at)}`] as const),
    ...Object.entries(endpoint.metadata).map(([name, value]) => [`· ${name}`, value] as const),
    ...(endpoint.secret ? [['Secret', endpoint.secret] as const] : []),
  ]);
  if (endpoint.secret) out.note(out.noteColors.dim('Store the secret now: it is not shown again.'));
  if (endpoint.disabled_reason) {
    out.note(out.noteColors.dim(`Once that is fixed: simplane webhooks enable ${endpoint.id}`));
  }
}

/** When it last worked and, if it fails, since when, why and when the next attempt is. */
function health(endpoint: WebhookEndpoint): Field[] {
  const { failing_since: since, failure_count: count, last_error: error, next_attempt_at: next } = endpoint;
  return [
    ['Last success', time(endpoint.last_success_at)],
    ...(endpoint.missed_since === null
      ? []
      : [
          [
            'Missed',
            `${missedOf(endpoint)} ${endpoint.missed_count === 1 ? 'event' : 'events'} since ${time(endpoint.missed_since)}`,
          ] as const,
        ]),
    ...(since === null
      ? []
      : ([
          ['Failing since', `${time(since)}, ${count} failed ${count === 1 ? 'attempt' : 'attempts'}`],
          ['Last error', error ?? none],
          ['Next attempt', time(next)],
        ] as const)),
  ];
}
