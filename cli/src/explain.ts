import { ApiError, ConnectionError, ExecutionFailedError, SimplaneError, TimeoutError } from '@simplane/sdk';
import { CommandError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { Settings } from './settings.ts';

export type Explanation = {
  message: string;
  nextStep: string | undefined;
  exitCode: number;
  /** Of a write that may have taken effect: with it, the command can be repeated. */
  idempotencyKey?: string | undefined;
};

/** The command group that failed, and its settings if they could be read. */
type ErrorContext = { group: string; settings: Settings | null };

/** Turns any error into a message, a next step and an exit code. */
export async function explain(error: unknown, context: ErrorContext): Promise<Explanation> {
  const explanation = await explainError(error, context);
  if (!(error instanceof SimplaneError && error.mayHaveTakenEffect)) return explanation;
  const { idempotencyKey } = error;
  const repeat = `The command may have taken effect. If you run it again, add --idempotency-key ${idempotencyKey}: then it takes effect once.`;
  const nextStep = [explanation.nextStep, repeat].filter(Boolean).join(' ');
  return { ...explanation, nextStep, idempotencyKey };
}

async function explainError(error: unknown, context: ErrorContext): Promise<Explanation> {
  if (error instanceof CommandError) {
    const { message, nextStep, exitCode } = error;
    return { message, nextStep, exitCode };
  }
  if (error instanceof ApiError) return explainRefusal(error, context);
  if (error instanceof ExecutionFailedError) {
    const isRetryable = error.execution.error?.retryable;
    const nextStep = isRetryable ? 'A new order may succeed: run the command again.' : undefined;
    return { message: error.message, nextStep, exitCode: exitCodes.refused };
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return { message: error.message, nextStep: connectionHint(context), exitCode: exitCodes.unreachable };
  }
  if (error instanceof SimplaneError || error instanceof TypeError) {
    return { message: error.message, nextStep: undefined, exitCode: exitCodes.refused };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, nextStep: undefined, exitCode: exitCodes.refused };
}

async function explainRefusal(error: ApiError, context: ErrorContext): Promise<Explanation> {
  const { code, message, status } = error;
  if (code === undefined) {
    return { message, nextStep: connectionHint(context), exitCode: exitCodes.unreachable };
  }
  return { message, nextStep: await nextStepFor(error, code, context), exitCode: exitCodeOf(status) };
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return exitCodes.unauthorized;
  return status >= 500 ? exitCodes.unreachable : exitCodes.refused;
}

type Code = NonNullable<ApiError['code']>;

/** A CLI command if one helps, otherwise the contract's remedy. */
async function nextStepFor(error: ApiError, code: Code, context: ErrorContext): Promise<string> {
  const { group, settings } = context;
  switch (code) {
    case 'api_key_missing':
    case 'api_key_invalid':
    case 'api_key_expired':
    case 'api_key_wrong_mode':
      return `The key came from ${settings?.keySource}. Set the right one with SIMPLANE_API_KEY or --api-key. A sandbox writes its key to .simplane/sandbox-api-key.`;
    case 'scope_missing':
      return 'Create a key with that scope (`simplane keys create`, with a key that has the admin scope), or ask the operator. `simplane whoami` shows the scopes of your key.';
    case 'sandbox_only':
      return 'Use a sandbox: set its address with --base-url and its key with --api-key.';
    case 'resource_missing':
      if (group === 'api') return (await import('@simplane/contract')).errors[code].remedy;
      if (error.param === 'product_id') return '`simplane products list` shows the catalog.';
      return `\`simplane ${listingGroups[group] ?? 'events'} list\` shows what exists.`;
    case 'esim_not_ready':
      return 'An eSIM is ready shortly after the order, unless the order failed. `simplane esims get <iccid>` shows its status.';
    case 'idempotency_key_reused':
      return 'Repeat the first command unchanged, or use another --idempotency-key.';
    case 'endpoint_limit_reached':
      return 'Delete an endpoint you no longer need: `simplane webhooks list`, then `simplane webhooks delete <id>`.';
    case 'consumer_limit_reached':
      return 'Delete a consumer you no longer need: `simplane consumers list`, then `simplane consumers delete <name>`.';
    case 'cursor_expired':
      if (group === 'api') return (await import('@simplane/contract')).errors[code].remedy;
      return 'Events after it were removed, or the database was restored. `--after start` begins with the oldest event kept.';
    default: {
      const { errors } = await import('@simplane/contract');
      return errors[code].remedy;
    }
  }
}

/** The group whose `list` shows the ids that a group of commands takes. */
const listingGroups: Record<string, string> = {
  products: 'products',
  esims: 'esims',
  bundles: 'esims',
  simulate: 'esims',
  executions: 'executions',
  webhooks: 'webhooks',
  deliveries: 'webhooks',
  events: 'events',
  consumers: 'consumers',
  requests: 'requests',
  keys: 'keys',
  sessions: 'sessions',
};

function connectionHint({ settings }: ErrorContext): string {
  return `The base URL is ${settings?.baseUrl} (from ${settings?.baseUrlSource}). Is the service running there? \`npm start\` starts a local sandbox; --base-url or SIMPLANE_BASE_URL sets another address.`;
}
