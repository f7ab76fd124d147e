import { ApiError, ConnectionError, ExecutionFailedError, SimplaneError, TimeoutError } from '@simplane/sdk';
import { CommandError } from './command-error.ts';
import { exitCodes } from './exit-codes.ts';
import type { Settings } from './settings.ts';

export type Explanation = { message: string; nextStep: string | undefined; exitCode: number };

/** Where it happened: which group of commands, against what. */
type Situation = { group: string; settings: Settings | null };

/** What to tell the person, what to do next, and what to tell the shell. */
export async function explain(error: unknown, situation: Situation): Promise<Explanation> {
  if (error instanceof CommandError) {
    const { message, nextStep, exitCode } = error;
    return { message, nextStep, exitCode };
  }
  if (error instanceof ApiError) return explainRefusal(error, situation);
  if (error instanceof ExecutionFailedError) {
    const isWorthAnother = error.execution.error?.retryable;
    const nextStep = isWorthAnother ? 'A new order may succeed: run it again.' : undefined;
    return { message: error.message, nextStep, exitCode: exitCodes.refused };
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return { message: error.message, nextStep: howToReach(situation), exitCode: exitCodes.unreachable };
  }
  if (error instanceof SimplaneError || error instanceof TypeError) {
    return { message: error.message, nextStep: undefined, exitCode: exitCodes.refused };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { message, nextStep: undefined, exitCode: exitCodes.refused };
}

async function explainRefusal(error: ApiError, situation: Situation): Promise<Explanation> {
  const { code, message, status } = error;
  if (code === undefined) {
    return { message, nextStep: howToReach(situation), exitCode: exitCodes.unreachable };
  }
  return { message, nextStep: await nextStepFor(error, code, situation), exitCode: exitCodeOf(status) };
}

function exitCodeOf(status: number): number {
  if (status === 401 || status === 403) return exitCodes.unauthorized;
  return status >= 500 ? exitCodes.unreachable : exitCodes.refused;
}

type Code = NonNullable<ApiError['code']>;

/** A command where there is one; what the contract advises otherwise. */
async function nextStepFor(error: ApiError, code: Code, situation: Situation): Promise<string> {
  const { group, settings } = situation;
  switch (code) {
    case 'api_key_missing':
    case 'api_key_invalid':
    case 'api_key_expired':
    case 'api_key_wrong_mode':
      return `The key came from ${settings?.keySource}. Give the right one with SIMPLANE_API_KEY or --api-key; a sandbox keeps its own in .simplane/sandbox-api-key.`;
    case 'scope_missing':
      return 'Ask whoever runs the service for a key with that scope; `simplane whoami` shows what yours has.';
    case 'sandbox_only':
      return 'Give the address and the key of a sandbox: --base-url and --api-key.';
    case 'resource_missing':
      if (error.param === 'product_id') return '`simplane products list` shows what can be ordered.';
      return `\`simplane ${listed.has(group) ? group : 'events'} list\` shows what there is.`;
    case 'esim_not_ready':
      return '`simplane esims get <iccid>` shows how it stands; it takes a moment after the order.';
    case 'idempotency_key_reused':
      return 'Repeat the first command unchanged, or give another --idempotency-key.';
    case 'endpoint_limit_reached':
      return '`simplane webhooks list` and `simplane webhooks delete <id>` make room.';
    default: {
      const { errors } = await import('@simplane/contract');
      return errors[code].remedy;
    }
  }
}

const listed = new Set(['products', 'esims', 'executions', 'webhooks', 'events']);

function howToReach({ settings }: Situation): string {
  return `The base URL is ${settings?.baseUrl}. Is the service running there? \`npm start\` runs a sandbox on this machine; --base-url or SIMPLANE_BASE_URL names another.`;
}
