import {
  idPrefixes,
  maxAllowedCidrs,
  operatorScopes,
  rollOverlap,
  type Scope,
  scopes,
} from '@simplane/contract';
import { revokeKey } from '../accounts/delete-key.ts';
import { defaultKeyName, type IssuedKey, issueKey } from '../accounts/issue-key.ts';
import { replaceKey } from '../accounts/roll-key.ts';
import { type ApiKeyRow, findKeyOwner, listKeyRows, lockKey } from '../accounts/sql/keys.ts';
import { cidrs, duration } from '../config/values.ts';
import type { Queryable } from '../platform/db/database.ts';
import { idOfUuid, uuidOfId } from '../platform/ids/uuid.ts';
import { accountOf } from './account-of.ts';
import { CommandError } from './command-error.ts';
import { type Format, print } from './print.ts';
import type { Tools } from './with-database.ts';

type CreateOptions = Format & {
  account?: string;
  name?: string;
  scopes: string;
  expiresIn?: string;
  allowedCidrs?: string;
};

/** The key is printed only here, because only its hash is stored. */
export async function createKeyCommand(tools: Tools, options: CreateOptions): Promise<void> {
  const chosen = parseScopes(options.scopes);
  const wanted = {
    accountUuid: chosen.includes('operator') ? noAccount(options) : await accountOf(tools, options.account),
    name: options.name ?? defaultKeyName,
    scopes: chosen,
    allowedCidrs: parseAllowedCidrs(options.allowedCidrs),
    expiresAt: parseExpiry(options.expiresIn, tools.clock.nowMs()),
  };
  printIssued(await tools.db.transaction((tx) => issueKey(tx, tools, wanted)), options);
}

export async function listKeysCommand(tools: Tools, options: Format & { account?: string }): Promise<void> {
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
export async function revokeKeyCommand(tools: Tools, id: string, options: Format): Promise<void> {
  const row = await withLockedKey(tools, id, (tx, key) => revokeKey(tx, tools, key));
  print([{ ...present(row), revoked: row.revoked_at?.toISOString() ?? null }], options);
}

/** Both keys work until the old one expires. */
export async function rollKeyCommand(
  tools: Tools,
  id: string,
  options: Format & { expiresIn?: string },
): Promise<void> {
  const overlapSeconds = parseOverlap(options.expiresIn);
  printIssued(
    await withLockedKey(tools, id, (tx, key) => replaceKey(tx, tools, key, { overlapSeconds })),
    options,
  );
}

async function withLockedKey<T>(
  { db }: Tools,
  id: string,
  work: (tx: Queryable, row: ApiKeyRow) => Promise<T>,
): Promise<T> {
  const uuid = uuidOfId(idPrefixes.apiKey, id);
  return db.transaction(async (tx) => {
    const owner = uuid && (await findKeyOwner(tx, uuid));
    const row = owner && (await lockKey(tx, owner));
    if (row) return work(tx, row);
    throw new CommandError(`no key has the id "${id}"; \`keys list\` shows the ids (they begin with key_)`);
  });
}

function parseScopes(text: string): Scope[] {
  const wanted = text.split(',').map((part) => part.trim());
  const unknown = wanted.find((part) => !scopes.includes(part as Scope));
  if (unknown !== undefined)
    throw new CommandError(`"${unknown}" is not a scope; there are ${scopes.join(', ')}`);
  const chosen = [...new Set(wanted)] as Scope[];
  const ofOperator = operatorScopes.filter((scope) => chosen.includes(scope));
  if (ofOperator.length === 0) return chosen;
  if (ofOperator.length < chosen.length)
    throw new CommandError('the operator scope cannot be combined with those of an account: create two keys');
  // Who writes for an account is an operator.
  return chosen.includes('operator_write') ? [...operatorScopes] : ofOperator;
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

function parseOverlap(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = duration.parse(text);
  if (ms === undefined || ms > rollOverlap.maximum * 1000)
    throw new CommandError(`--expires-in takes a duration of at most 7d, such as 12h, or 0s; got "${text}"`);
  return Math.floor(ms / 1000);
}

function parseAllowedCidrs(text: string | undefined): string[] {
  if (text === undefined) return [];
  const given = cidrs.parse(text);
  if (given === undefined || given.length > maxAllowedCidrs)
    throw new CommandError(
      `--allowed-cidrs takes up to ${maxAllowedCidrs} networks separated by commas, such as 203.0.113.0/24,2001:db8::/32; got "${text}"`,
    );
  return given;
}

function printIssued({ row, key }: IssuedKey, options: Format): void {
  print([{ key, ...present(row) }], options);
}

function present(row: ApiKeyRow) {
  return {
    id: idOfUuid(idPrefixes.apiKey, row.id),
    account: row.account_id && idOfUuid(idPrefixes.account, row.account_id),
    name: row.name,
    scopes: row.scopes.join(','),
    last4: row.last4,
    created: row.created_at.toISOString(),
    expires: row.expires_at?.toISOString() ?? null,
    allowed_cidrs: row.allowed_cidrs.join(',') || null,
  };
}
