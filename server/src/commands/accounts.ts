import { idPrefixes } from '@simplane/contract';
import { openAccount } from '../accounts/create-account.ts';
import { type AccountLimits, type AccountRow, listAccountRows, statusOf } from '../accounts/sql/accounts.ts';
import { changeAccount } from '../accounts/update-account.ts';
import { closeByUuid } from '../orders/closing/close.ts';
import { requestAccountErasure } from '../orders/erasures/request.ts';
import { idOfUuid, uuidOfId } from '../platform/ids/uuid.ts';
import { accountOf } from './account-of.ts';
import { CommandError } from './command-error.ts';
import { type Format, isoTime, print } from './print.ts';
import type { Tools } from './with-database.ts';

type LimitOptions = {
  maxWebhookEndpoints?: string;
  maxOpenExecutions?: string;
  requestsPerSecond?: string;
};

export async function createAccountCommand(
  tools: Tools,
  options: Format & LimitOptions & { name: string },
): Promise<void> {
  const wanted = { name: options.name, ...limitsIn(options) };
  print([present(await tools.db.transaction((tx) => openAccount(tx, tools, wanted)))], options);
}

export async function listAccountsCommand(tools: Tools, options: Format): Promise<void> {
  print((await listAccountRows(tools.db)).map(present), options);
}

/** Effective on every process within five seconds. */
export async function updateAccountCommand(
  tools: Tools,
  id: string,
  options: Format & LimitOptions & { name?: string; status?: string },
): Promise<void> {
  const { name, status } = options;
  const changes = {
    ...(name !== undefined && { name }),
    ...(status !== undefined && { status: parseStatus(status) }),
    ...limitsIn(options),
  };
  const uuid = uuidOfId(idPrefixes.account, id);
  const row = uuid && (await tools.db.transaction((tx) => changeAccount(tx, tools, uuid, changes)));
  if (!row)
    throw new CommandError(
      `no account has the id "${id}"; \`accounts list\` shows the ids (they begin with acct_)`,
    );
  print([present(row)], options);
}

/** Workers look for it every second, so they need no signal. */
export async function closeAccountCommand(
  tools: Tools,
  id: string,
  options: Format & { terminateEsims: boolean },
): Promise<void> {
  const uuid = await accountOf(tools, id);
  const row = await tools.db.transaction((tx) => closeByUuid(tx, tools, uuid, options.terminateEsims));
  print([present(row as AccountRow)], options);
}

/** Workers look for it every second, so they need no signal. */
export async function eraseAccountCommand(tools: Tools, id: string, options: Format): Promise<void> {
  const erasure = await tools.db.transaction((tx) => requestAccountErasure(tx, tools, id));
  const { target, requested_at, finished_at, ...rest } = erasure;
  const times = { requested_at: isoTime(requested_at), finished_at: isoTime(finished_at) };
  print([{ ...rest, account: target.id, ...times }], options);
}

function parseStatus(text: string): AccountRow['status'] {
  if (text === 'active' || text === 'suspended') return text;
  throw new CommandError(`--status takes active or suspended; got "${text}"`);
}

/** Only the given limits. `none` removes one: then the deployment's applies. */
function limitsIn(options: LimitOptions): Partial<AccountLimits> {
  const limits: Partial<AccountLimits> = {};
  if (options.maxWebhookEndpoints !== undefined)
    limits.max_webhook_endpoints = parseLimit('--max-webhook-endpoints', options.maxWebhookEndpoints, 0);
  if (options.maxOpenExecutions !== undefined)
    limits.max_open_executions = parseLimit('--max-open-executions', options.maxOpenExecutions, 0);
  if (options.requestsPerSecond !== undefined)
    limits.requests_per_second = parseLimit('--requests-per-second', options.requestsPerSecond, 1);
  return limits;
}

function parseLimit(option: string, text: string, minimum: number): number | null {
  if (text === 'none') return null;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum) return value;
  throw new CommandError(`${option} takes a whole number from ${minimum}, or none; got "${text}"`);
}

function present(row: AccountRow) {
  return {
    id: idOfUuid(idPrefixes.account, row.id),
    name: row.name,
    status: statusOf(row),
    max_webhook_endpoints: row.max_webhook_endpoints,
    max_open_executions: row.max_open_executions,
    requests_per_second: row.requests_per_second,
    api_version: row.api_version,
    created: row.created_at.toISOString(),
  };
}
