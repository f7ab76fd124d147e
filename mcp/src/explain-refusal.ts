import { type ErrorCode, errors } from '@simplane/contract';
import { ApiError, ConnectionError, type Simplane, SimplaneError, TimeoutError } from '@simplane/sdk';
import { InvalidArgument } from './invalid-argument.ts';
import { describeProduct, firstProducts } from './products.ts';

/** What went wrong, in words that an agent can act on: the code, the message, the way out, and what to quote. */
export async function explainRefusal(error: unknown, simplane: Simplane): Promise<string> {
  if (error instanceof ApiError) return explainAnswer(error, await namesOfProducts(error, simplane));
  if (error instanceof InvalidArgument) {
    return lines({
      Refused: `parameter_invalid: ${error.message}`,
      Parameter: error.param,
      'What to do': 'Change the argument and call the tool again. Nothing was sent.',
    });
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return lines({
      'No answer': error.message,
      'What to do':
        'Check that the Simplane server runs and that the base URL leads to it, then call the tool again. ' +
        'The work may or may not have been done: a repeated write is safe only with the idempotency_key of the first call.',
    });
  }
  return lines({
    Failed: error instanceof SimplaneError ? error.message : 'Something broke in the MCP server.',
  });
}

/** Whether somebody said no, and it is not a bug of ours. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SimplaneError || error instanceof InvalidArgument;
}

function explainAnswer(error: ApiError, products: string | undefined): string {
  const { code, status, message, param, docUrl, requestId } = error;
  return lines({
    Refused: `${code ?? 'unknown'} (HTTP ${status}): ${message}`,
    Parameter: param,
    'What to do': products ? 'Call the tool again with an id that exists.' : nextStep(code),
    'Products that exist': products,
    Docs: docUrl,
    'Request id': requestId,
  });
}

function nextStep(code: ErrorCode | undefined): string {
  if (code === undefined) return 'Ask the user whether the base URL leads to a Simplane server.';
  // A server may be newer than this list.
  return nextSteps[code] ?? errors[code]?.remedy ?? 'Follow the message.';
}

/** Where the remedy for people who write HTTP is not the one for an agent that calls tools. */
const nextSteps: Partial<Record<ErrorCode, string>> = {
  api_key_missing:
    'Tell the user that the MCP server has no API key: it is set where the server is configured.',
  api_key_invalid:
    'No other call will work either. Ask the user to set a valid key where this MCP server is configured.',
  api_key_expired: 'No other call will work either. Ask the user to create a new key and to set it.',
  api_key_wrong_mode: 'No other call will work either. Ask the user for a key of this deployment’s mode.',
  parameter_missing: 'Call the tool again with the argument that is missing.',
  parameter_invalid: 'Change the argument as the message says and call the tool again.',
  parameter_unknown: 'Leave the argument out, or use one that the message names.',
  scope_missing: 'Ask the user for a key with the scope that the message names, or go on without this tool.',
  sandbox_only: 'Leave this step out: the deployment is live, and only real events exist there.',
  esim_not_ready: 'Call get_execution with wait_seconds until the execution has succeeded, then try again.',
  cursor_invalid: 'Begin again without starting_after, then pass each next_cursor on unchanged.',
  idempotency_key_reused: 'Use a new idempotency_key for a new request, or leave it out.',
  idempotency_in_progress: 'Call the tool again in a second with the same idempotency_key and arguments.',
  rate_limited: 'Wait a second, then call the tool again.',
};

/** An id that does not exist is best answered with those that do. */
async function namesOfProducts({ code, param }: ApiError, simplane: Simplane): Promise<string | undefined> {
  if (code !== 'resource_missing' || param !== 'product_id') return undefined;
  try {
    const { products, hasMore } = await firstProducts(simplane);
    return products.map(describeProduct).join('; ') + (hasMore ? '; more with list_products' : '');
  } catch {
    return 'call list_products';
  }
}

function lines(parts: Record<string, string | undefined>): string {
  return Object.entries(parts)
    .filter(([, text]) => text !== undefined)
    .map(([name, text]) => `${name}: ${text}`)
    .join('\n');
}
