import type { WebhookEndpoint } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { printList, readPairs, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printThing } from '../print/table.ts';
import { readDuration, readTime } from '../read-time.ts';
import { collect } from './esims.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<WebhookEndpoint>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'STATUS', of: ({ status }) => status, paint: paintStatus },
  { title: 'EVENTS', of: ({ enabled_event_types: types }) => types.join(',') },
  { title: 'URL', of: ({ url }) => url },
  { title: 'DESCRIPTION', of: ({ description }) => description ?? '' },
];

export function addWebhooks(program: Command): void {
  const webhooks = program.command('webhooks').description('servers of yours that are told what happens');
  addCreate(webhooks);
  addReading(webhooks);
  addEnable(webhooks);
  addRotateSecret(webhooks);
  addRecover(webhooks);
  addDelete(webhooks);
}

/** `esim.provisioned,bundle.*` */
function readEventTypes(text: string): string[] {
  return text
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
}

export function eventsOption(): Option {
  return new Option('--events <types>', 'comma-separated: esim.provisioned, bundle.*, or * for all')
    .default(['*'], '*')
    .argParser(readEventTypes);
}

type CreateOptions = WriteOptions & { events: string[]; description?: string; metadata: string[] };

function addCreate(webhooks: Command): void {
  const create = webhooks
    .command('create')
    .description('register a URL; prints the signing secret, once')
    .argument('<url>', 'where deliveries are sent')
    .addOption(eventsOption())
    .option('--description <text>', 'a note for yourself')
    .option('--metadata <name=value>', 'ids of your own; may be repeated', collect, [])
    .addOption(idempotencyKeyOption());
  withAction<CreateOptions>(create, async ({ client, out }, options, [url = '']) => {
    const body = {
      url,
      enabled_event_types: options.events,
      ...(options.description !== undefined && { description: options.description }),
      ...(options.metadata.length > 0 && { metadata: readPairs(options.metadata) }),
    };
    printEndpoint(out, await client.webhookEndpoints.create(body, keyOf(options)));
  });
}

function addReading(webhooks: Command): void {
  const list = withListOptions(webhooks.command('list').description('list them'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.webhookEndpoints.list(query), {
      columns,
      empty: 'No webhook endpoints. `simplane webhooks create <url>` registers one.',
    }),
  );

  const get = webhooks.command('get').description('show one').argument('<id>', 'we_…');
  withAction(get, async ({ client, out }, _, [id = '']) =>
    printEndpoint(out, await client.webhookEndpoints.get(id)),
  );
}

function addEnable(webhooks: Command): void {
  const enable = webhooks
    .command('enable')
    .description('let new events flow again after the cause is fixed')
    .argument('<id>', 'we_…')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(enable, async ({ client, out }, options, [id = '']) => {
    printEndpoint(out, await client.webhookEndpoints.enable(id, keyOf(options)));
    out.note(out.noteColors.dim(`What was missed: simplane webhooks recover ${id} --since 2h`));
  });
}

function addRotateSecret(webhooks: Command): void {
  const rotate = webhooks
    .command('rotate-secret')
    .description('make a new signing secret; the old one signs beside it for a while')
    .argument('<id>', 'we_…')
    .addOption(
      new Option(
        '--expires-in <duration>',
        'how long the old one is good for: 1h, 7d at most, 0 for not at all',
      ).argParser(readDuration),
    )
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { expiresIn?: number }>(rotate, async ({ client, out }, options, [id = '']) => {
    const body = options.expiresIn === undefined ? {} : { expires_in: options.expiresIn };
    printEndpoint(out, await client.webhookEndpoints.rotateSecret(id, body, keyOf(options)));
  });
}

function addRecover(webhooks: Command): void {
  const recover = webhooks
    .command('recover')
    .description('deliver what it missed')
    .argument('<id>', 'we_…')
    .addOption(
      new Option('--since <time>', 'such as 2h (ago) or 2026-11-15T08:00:00Z')
        .argParser(readTime)
        .makeOptionMandatory(),
    )
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { since: number }>(recover, async ({ client, out }, options, [id = '']) => {
    const recovery = await client.webhookEndpoints.recover(id, { since: options.since }, keyOf(options));
    if (out.isJson) return out.json(recovery);
    out.line(`Queued: what ${id} has missed since ${time(recovery.since)}.`);
  });
}

function addDelete(webhooks: Command): void {
  const remove = webhooks
    .command('delete')
    .description('remove one; what was still to be delivered to it is canceled')
    .argument('<id>', 'we_…')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(remove, async ({ client, out }, options, [id = '']) => {
    const deleted = await client.webhookEndpoints.delete(id, keyOf(options));
    if (out.isJson) return out.json(deleted);
    out.line(`Deleted ${deleted.id}.`);
  });
}

function printEndpoint(out: Output, endpoint: WebhookEndpoint): void {
  printThing(out, endpoint, [
    ['ID', endpoint.id],
    ['URL', endpoint.url],
    ['Events', endpoint.enabled_event_types.join(', ')],
    ['Status', endpoint.status, paintStatus],
    ...(endpoint.disabled_reason ? [['Disabled', endpoint.disabled_reason] as const] : []),
    ['Description', endpoint.description ?? none],
    ['Created', time(endpoint.created)],
    ...Object.entries(endpoint.metadata).map(([name, value]) => [`· ${name}`, value] as const),
    ...(endpoint.secret ? [['Secret', endpoint.secret] as const] : []),
  ]);
  if (endpoint.secret) out.note(out.noteColors.dim('Keep the secret: it is not shown again.'));
  if (endpoint.disabled_reason) {
    out.note(out.noteColors.dim(`When that is fixed: simplane webhooks enable ${endpoint.id}`));
  }
}
