import { idPrefixes, type Scope, scopes } from '@simplane/contract';
import { generateApiKey } from '../accounts/api-key-text.ts';
import { createApiKey } from '../accounts/create-api-key.ts';
import { findAccount } from '../accounts/sql/find-account.ts';
import type { NewKey } from '../accounts/sql/insert-key.ts';
import { listAccountRows } from '../accounts/sql/list-accounts.ts';
import { listKeyRows } from '../accounts/sql/list-keys.ts';
import { revokeKeyRow } from '../accounts/sql/revoke-key.ts';
import type { ApiKeyRow } from '../accounts/sql/rows.ts';
import { duration } from '../config/values.ts';
import { idOfUuid, uuidOfId } from '../ids/uuid.ts';
import { CommandError } from './command-error.ts';
import { print } from './print.ts';
import type { Tools } from './with-database.ts';

type Options = { json: boolean };
type CreateOptions = Options & { account?: string; name: string; scopes: string; expiresIn?: string };

/** The key is printed only here, because only its hash is stored. */
export async function createKeyCommand(tools: Tools, options: CreateOptions): Promise<void> {
  const key = generateApiKey(tools.config.mode);
  const scopes = parseScopes(options.scopes);
  const row = await createApiKey(tools.db, tools, {
    key,
    accountUuid: scopes.includes('operator') ? noAccount(options) : await accountOf(tools, options.account),
    name: options.name,
    scopes,
    expiresAt: parseExpiry(options.expiresIn, tools.clock.nowMs()),
  });
  print([{ key, ...present(row) }], options);
}

export async function listKeysCommand(tools: Tools, options: Options & { account?: string }): Promise<void> {
  const account = options.account === undefined ? null : await accountOf(tools, options.account);
  const rows = await listKeyRows(tools.db, account);
  print(
    rows.map((row) => ({
      ...present(row),
      last_used: row.last_used_at?.toISOString() ?? null,
      revoked: row.revoked_at?.toISOString() ?? null,
    })),
    options,
  );
}

/** Effective on every process within five seconds. */
export async function revokeKeyCommand(tools: Tools, id: string, options: Options): Promise<void> {
  const uuid = uuidOfId(idPrefixes.apiKey, id);
  const row = uuid && (await revokeKeyRow(tools.db, uuid, new Date(tools.clock.nowMs())));
  if (!row)
    throw new CommandError(`no key has the id "${id}"; \`keys list\` shows the ids (they begin with key_)`);
  print([{ ...present(row), revoked: row.revoked_at?.toISOString() ?? null }], options);
}

async function accountOf({ db }: Tools, id: string | undefined): Promise<string> {
  if (id === undefined) {
    const accounts = await listAccountRows(db);
    const [only] = accounts;
    if (only && accounts.length === 1) return only.id;
    throw new CommandError(
      only
        ? 'there are several accounts: choose one with --account acct_…; `accounts list` shows them'
        : 'there is no account yet: create one with `accounts create --name …`',
    );
  }
  const uuid = uuidOfId(idPrefixes.account, id);
  if (!uuid || !(await findAccount(db, uuid))) throw new CommandError(`no account has the id "${id}"`);
  return uuid;
}

function parseScopes(text: string): Scope[] {
  const wanted = text.split(',').map((part) => part.trim());
  const unknown = wanted.find((part) => !scopes.includes(part as Scope));
  if (unknown !== undefined)
    throw new CommandError(`"${unknown}" is not a scope; there are ${scopes.join(', ')}`);
  const chosen = [...new Set(wanted)] as Scope[];
  if (chosen.includes('operator') && chosen.length > 1)
    throw new CommandError('the operator scope cannot be combined with another: create two keys');
  return chosen;
}

/** An operator's key is for the whole deployment. */
function noAccount({ account }: CreateOptions): null {
  if (account !== undefined)
    throw new CommandError('a key with the operator scope belongs to no account: leave --account out');
  return null;
}

function parseExpiry(text: string | undefined, nowMs: number): Date | null {
  if (text === undefined) return null;
  const ms = duration.parse(text);
  if (!ms) throw new CommandError(`--expires-in takes a duration such as 12h or 90d; got "${text}"`);
  return new Date(nowMs + ms);
}

function present(row: ApiKeyRow | NewKey) {
  return {
    id: idOfUuid(idPrefixes.apiKey, row.id),
    account: row.account_id && idOfUuid(idPrefixes.account, row.account_id),
    name: row.name,
    scopes: row.scopes.join(','),
    last4: row.last4,
    created: row.created_at.toISOString(),
    expires: row.expires_at?.toISOString() ?? null,
  };
}
