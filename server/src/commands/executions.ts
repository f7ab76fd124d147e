import {
  type ExecutionErrorCode,
  type ExecutionStatus,
  executionErrorCodes,
  executionStatuses,
  type OperatorExecution,
  pageSize,
  reservedActions,
  unknownOutcomes,
} from '@simplane/contract';
import { duration } from '../config/values.ts';
import { getAnyExecution } from '../orders/operator/get.ts';
import { listAllExecutions } from '../orders/operator/list.ts';
import { presentForOperator } from '../orders/operator/present.ts';
import { readDecision, resolveById } from '../orders/operator/resolve.ts';
import { retryById } from '../orders/operator/retry.ts';
import { notifyOfOrders } from '../platform/db/signals.ts';
import { claimSealingKey, describeMissingKeys } from '../platform/secrets/claim-sealing-key.ts';
import { readEncryptionKeys } from '../platform/secrets/encryption-keys.ts';
import { createKeyring, type Keyring } from '../platform/secrets/keyring.ts';
import { createOldFormCheck } from '../platform/secrets/old-form.ts';
import { CommandError } from './command-error.ts';
import { type Format, isoTime, print, printJson } from './print.ts';
import type { Tools } from './with-database.ts';

type ListOptions = Format & {
  status?: string;
  errorCode?: string;
  account?: string;
  olderThan?: string;
  limit: string;
};
type ResolveOptions = Format & { outcome: string; iccid?: string; then?: string };

export async function listExecutionsCommand(tools: Tools, options: ListOptions): Promise<void> {
  const { status, errorCode, account, olderThan } = options;
  const { data, has_more: hasMore } = await listAllExecutions(tools, {
    query: {
      limit: readLimit(options.limit),
      ...(status !== undefined && {
        status: oneOf<ExecutionStatus>('--status', status, executionStatuses),
      }),
      ...(errorCode !== undefined && {
        error_code: oneOf<ExecutionErrorCode>('--error-code', errorCode, executionErrorCodes),
      }),
      ...(account !== undefined && { account_id: account }),
      ...(olderThan !== undefined && { older_than: readAge(olderThan) }),
    },
  });
  if (options.json) {
    printJson(data);
    return;
  }
  print(data.map(toLine), options);
  if (hasMore) process.stderr.write('there are more: use --limit, or a filter\n');
}

export async function showExecutionCommand(tools: Tools, id: string, options: Format): Promise<void> {
  printOne(await getAnyExecution(tools, { params: { id } }), options);
}

export async function retryExecutionCommand(tools: Tools, id: string, options: Format): Promise<void> {
  const next = await tools.db.transaction((tx) => retryById(tx, tools, id));
  await notifyOfOrders(tools.db);
  printOne(presentForOperator(next), options);
}

export async function resolveExecutionCommand(
  tools: Tools,
  id: string,
  options: ResolveOptions,
): Promise<void> {
  const decision = readDecision({
    outcome: oneOf('--outcome', options.outcome, unknownOutcomes),
    ...(options.iccid !== undefined && { iccid: options.iccid }),
    ...(options.then !== undefined && { then: oneOf('--then', options.then, reservedActions) }),
  });
  const keyring = await openKeyring(tools);
  const requiresCheckDigit = tools.config.es2IccidCheck === 'luhn';
  const deps = { ...tools, keyring, requiresCheckDigit };
  const resolved = await tools.db.transaction((tx) => resolveById(tx, deps, id, decision));
  await notifyOfOrders(tools.db);
  printOne(presentForOperator(resolved), options);
}

/** An adopted profile gets a new secret, which every process must be able to read. */
async function openKeyring({ db, config }: Tools): Promise<Keyring> {
  const keys = await readEncryptionKeys(config);
  const missing = await claimSealingKey(db, keys);
  if (missing.length > 0) throw new CommandError(describeMissingKeys(missing));
  return createKeyring(keys, { isOldFormRefused: createOldFormCheck(db) });
}

function toLine(execution: OperatorExecution) {
  const { error, last_error: lastError, next_attempt_at: next } = execution;
  return {
    id: execution.id,
    account: execution.account_id,
    type: execution.type,
    status: execution.status,
    error: error?.code ?? (next === null ? null : (lastError?.code ?? null)),
    attempts: execution.attempts,
    created: isoTime(execution.created),
    next_attempt: isoTime(next),
  };
}

/** As a table: one line per field, and one per step. */
function printOne(execution: OperatorExecution, options: Format): void {
  if (options.json) {
    printJson([execution]);
    return;
  }
  const { error, last_error: lastError, resolution } = execution;
  const fields: [string, string | number | null | undefined][] = [
    ['id', execution.id],
    ['account', execution.account_id],
    ['type', execution.type],
    ['status', execution.status],
    ['product', execution.product_id],
    ['iccid', execution.iccid],
    ['attempts', execution.attempts],
    ['created', isoTime(execution.created)],
    ['finished', isoTime(execution.finished_at)],
    ['waiting for', execution.waiting_for],
    ['next attempt', isoTime(execution.next_attempt_at)],
    ['leased until', isoTime(execution.leased_until)],
    ...execution.steps.map((step): [string, string] => [
      `step ${step.name}`,
      `${step.status}, call ${step.function_call_identifier}`,
    ]),
    ['error', error && `${error.code}: ${error.message}`],
    ['last error', lastError && `${isoTime(lastError.at)} ${lastError.code}: ${lastError.message}`],
    ['retry of', execution.retry_of],
    ['retried by', execution.retried_by],
    [
      'resolution',
      resolution &&
        `${resolution.outcome}${resolution.then === null ? '' : `, ${resolution.then} ${resolution.iccid}`}: ${resolution.status}`,
    ],
  ];
  print(
    fields
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([field, value]) => ({ field, value: value ?? null })),
    options,
  );
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((value) => value === text);
  if (found === undefined)
    throw new CommandError(`${option} takes one of ${known.join(', ')}; got "${text}"`);
  return found;
}

function readAge(text: string): number {
  const ms = duration.parse(text);
  if (ms === undefined)
    throw new CommandError(`--older-than takes a duration such as 5m or 2h; got "${text}"`);
  return Math.ceil(ms / 1_000);
}

function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > pageSize.maximum)
    throw new CommandError(`--limit takes a number from 1 to ${pageSize.maximum}; got "${text}"`);
  return limit;
}
