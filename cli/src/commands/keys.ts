import { type AccountScope, accountScopes } from '@simplane/contract';
import type { ApiKey } from '@simplane/sdk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { withAction } from '../action.ts';
import { usageError } from '../command-error.ts';
import { none, paintStatus, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Output } from '../print/output.ts';
import { type Column, printResource } from '../print/table.ts';
import { readDuration } from '../read-time.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<ApiKey>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'NAME', value: ({ name }) => name, cutTo: 12 },
  { title: 'STATUS', value: statusOf, paint: paintStatus },
  { title: 'SCOPES', value: ({ scopes }) => scopes.join(',') },
  { title: 'LAST4', value: ({ last4 }) => last4, isSecondary: true },
  { title: 'LAST USED', value: ({ last_used_at: at }) => time(at), isSecondary: true },
  { title: 'EXPIRES', value: ({ expires_at: at }) => time(at), isSecondary: true },
];

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('API keys of the account; needs the admin scope');
  addListAndGet(keys);
  addCreate(keys);
  addUpdate(keys);
  addRoll(keys);
  addRevoke(keys);
}

function addListAndGet(keys: Command): void {
  const list = withListOptions(keys.command('list').description('list keys, without their secrets'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.apiKeys.list(query), { columns, empty: 'No keys.' }),
  );

  const get = named(keys.command('get').description('show one key'));
  withAction(get, async ({ client, out }, _, [id = '']) => printKey(out, await client.apiKeys.get(id)));
}

type Settings = {
  name?: string;
  scopes?: AccountScope[];
  allowedCidrs?: string[];
  expiresIn?: number | 'never';
};

function addCreate(keys: Command): void {
  const create = keys
    .command('create')
    .description('create a key and print it, once')
    .option('--name <name>', 'a name to recognize it by')
    .addOption(scopesOption().makeOptionMandatory())
    .addOption(cidrsOption())
    .addOption(lifetimeOption())
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & Settings & { scopes: AccountScope[] }>(create, async ({ client, out }, options) =>
    printKey(
      out,
      await client.apiKeys.create({ ...bodyOf(options), scopes: options.scopes }, keyOf(options)),
    ),
  );
}

function addUpdate(keys: Command): void {
  const update = named(keys.command('update').description('change a key; only the given options change'))
    .option('--name <name>', 'a name to recognize it by')
    .addOption(scopesOption())
    .addOption(cidrsOption())
    .addOption(lifetimeOption())
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & Settings>(update, async ({ client, out }, options, [id = '']) => {
    const body = bodyOf(options);
    if (Object.keys(body).length === 0) {
      throw usageError('Nothing to change.', '`simplane keys update --help` lists the options.');
    }
    printKey(out, await client.apiKeys.update(id, body, keyOf(options)));
  });
}

function addRoll(keys: Command): void {
  const roll = named(
    keys.command('roll').description('create a key with the same scopes; the old one works until it expires'),
  )
    .addOption(
      new Option(
        '--expires-in <duration>',
        'time until the old key expires: such as 1h, at most 7d, 0 for immediately; default 1d',
      ).argParser(readDuration),
    )
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions & { expiresIn?: number }>(roll, async ({ client, out }, options, [id = '']) => {
    const body = options.expiresIn === undefined ? {} : { expires_in: options.expiresIn };
    printKey(out, await client.apiKeys.roll(id, body, keyOf(options)));
  });
}

function addRevoke(keys: Command): void {
  const revoke = named(
    keys.command('revoke').description('revoke a key; it is refused within 5 seconds'),
  ).addOption(idempotencyKeyOption());
  withAction<WriteOptions>(revoke, async ({ client, out }, options, [id = '']) => {
    const revoked = await client.apiKeys.revoke(id, keyOf(options));
    if (out.isJson) return out.json(revoked);
    out.line(`Revoked ${revoked.id}.`);
  });
}

function named(command: Command): Command {
  return command.argument('<id>', 'key id (key_…)');
}

function scopesOption(): Option {
  return new Option('--scopes <list>', `comma-separated: ${accountScopes.join(', ')}`).argParser(readScopes);
}

function cidrsOption(): Option {
  const what = 'comma-separated networks it may be used from, such as 203.0.113.0/24; none: from anywhere';
  return new Option('--allowed-cidrs <list>', what).argParser((text) =>
    text === 'none' ? [] : text.split(',').map((part) => part.trim()),
  );
}

function lifetimeOption(): Option {
  return new Option('--expires-in <duration>', 'time until it expires, such as 90d, or never').argParser(
    (text) => (text === 'never' ? text : readDuration(text)),
  );
}

function readScopes(text: string): AccountScope[] {
  const scopes = text.split(',').map((part) => part.trim());
  const unknown = scopes.find((scope) => !(accountScopes as readonly string[]).includes(scope));
  if (unknown === undefined) return scopes as AccountScope[];
  throw new InvalidArgumentError(`"${unknown}" is not a scope; there are ${accountScopes.join(', ')}.`);
}

function bodyOf({ name, scopes, allowedCidrs, expiresIn }: Settings) {
  return {
    ...(name !== undefined && { name }),
    ...(scopes && { scopes }),
    ...(allowedCidrs && { allowed_cidrs: allowedCidrs }),
    ...(expiresIn !== undefined && {
      expires_at: expiresIn === 'never' ? null : Math.floor(Date.now() / 1000) + expiresIn,
    }),
  };
}

function statusOf({ revoked_at: revokedAt, expires_at: expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && expiresAt * 1000 <= Date.now() ? 'expired' : 'active';
}

function printKey(out: Output, key: ApiKey): void {
  const { created_by: by } = key;
  printResource(out, key, [
    ['ID', key.id],
    ['Name', key.name],
    ['Status', statusOf(key), paintStatus],
    ['Scopes', key.scopes.join(', ')],
    ['Last four', key.last4],
    ['Networks', key.allowed_cidrs.join(', ') || 'from anywhere'],
    ['Created', time(key.created)],
    ['Created by', by?.name ?? by?.type ?? none],
    ['Expires', key.expires_at === null ? 'never' : time(key.expires_at)],
    ['Last used', time(key.last_used_at)],
    ...(key.revoked_at === null ? [] : [['Revoked', time(key.revoked_at)] as const]),
    ...(key.key ? [['Key', key.key] as const] : []),
  ]);
  if (key.key) out.note(out.noteColors.dim('Store the key now: it is not shown again.'));
}
