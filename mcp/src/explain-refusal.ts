import { type ErrorCode, errors } from '@simplane/contract';
import { ApiError, ConnectionError, type Simplane, SimplaneError, TimeoutError } from '@simplane/sdk';
import { InvalidArgument } from './invalid-argument.ts';
import { describeProduct, firstProducts } from './products.ts';
import { inToolTerms } from './tool-terms.ts';

/** The tool's names for parameters that the API calls otherwise. */
type ArgumentNames = Record<string, string>;

/**
 * Describes the error so that an agent can act on it: code, message, next step and request id. It names tools and their
 * arguments, not the API's paths and parameters, which an agent cannot use.
 */
export async function explainRefusal(
  error: unknown,
  simplane: Simplane,
  argumentNames: ArgumentNames = {},
): Promise<string> {
  if (error instanceof ApiError) {
    return explainApiError(error, argumentNames, await availableProducts(error, simplane));
  }
  if (error instanceof InvalidArgument) {
    return lines({
      Refused: `${error.code}: ${error.message}`,
      Argument: error.param,
      'What to do': 'Change the argument and call the tool again. Nothing was sent.',
    });
  }
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    return lines({
      'No response': inToolTerms(error.message),
      'What to do':
        'Check that the Simplane server is running and that the base URL is correct, then call the tool again.',
      Repeat: howToRepeat(error),
    });
  }
  return lines({
    Failed: error instanceof SimplaneError ? error.message : 'Unexpected error in the MCP server.',
  });
}

/** Whether the error is an expected refusal rather than a bug. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SimplaneError || error instanceof InvalidArgument;
}

/** Names the key that the SDK made if the agent gave none: without it, a repeated call would be a second order. */
function howToRepeat({ mayHaveTakenEffect, idempotencyKey }: SimplaneError): string | undefined {
  if (!mayHaveTakenEffect) return undefined;
  return `The call may have taken effect. Repeat it only with the same arguments and idempotency_key ${JSON.stringify(idempotencyKey)}; then it runs once.`;
}

function explainApiError(
  error: ApiError,
  argumentNames: ArgumentNames,
  products: string | undefined,
): string {
  const { code, status, message, param, docUrl, requestId } = error;
  const argument = param && inToolTerms(renamed(param, argumentNames));
  return lines({
    Refused: `${code ?? 'unknown'} (HTTP ${status}): ${inToolTerms(renamed(message, argumentNames))}`,
    Argument: argument,
    'What to do': products ? 'Call the tool again with an id that exists.' : nextStep(code),
    Repeat: howToRepeat(error),
    'Products that exist': products,
    Docs: docUrl,
    'Request id': requestId,
  });
}

/** Replaces the parameter with which a message starts, and the one that "has this id" at its end names. */
function renamed(text: string, argumentNames: ArgumentNames): string {
  const names = Object.entries(argumentNames);
  return names.reduce(
    (result, [param, argument]) =>
      result.replace(
        new RegExp(`^${escaped(param)}(?!\\w)|(?<=\\bthis )${escaped(param)}(?=\\.$)`),
        argument,
      ),
    text,
  );
}

/** Parameters such as `created[gte]` have characters that mean something else in a pattern. */
function escaped(param: string): string {
  return param.replace(/[[\]]/g, '\\$&');
}

function nextStep(code: ErrorCode | undefined): string {
  if (code === undefined) return 'Ask the user to check that the base URL points to a Simplane server.';
  // A newer server may return a code that is not in this list, and another one any, also `constructor`, which every object has.
  if (!Object.hasOwn(errors, code)) return 'Follow the message.';
  return nextSteps[code] ?? inToolTerms(errors[code].remedy);
}

/** Remedies for agents, where they differ from those for HTTP clients. */
const nextSteps: Partial<Record<ErrorCode, string>> = {
  api_key_missing: 'Ask the user to set an API key in the configuration of this MCP server.',
  api_key_invalid:
    'All calls will fail. Ask the user to set a valid key in the configuration of this MCP server.',
  api_key_expired: 'All calls will fail. Ask the user to create and set a new key.',
  api_key_wrong_mode: 'All calls will fail. Ask the user for a key that matches the mode of this deployment.',
  wrong_cell:
    'All calls will fail. Ask the user to correct the base URL, or its operator to correct the router.',
  parameter_missing: 'Call the tool again with the missing argument.',
  parameter_invalid: 'Change the argument as the message says and call the tool again.',
  parameter_unknown: 'Remove the argument, or use one that the message names.',
  scope_missing:
    'Ask the user for a key with the scope that the message names, or continue without this tool.',
  sandbox_only: 'Skip this step: a live deployment has only real events.',
  esim_not_ready:
    'Call get_execution with wait_seconds. If the execution succeeded, try again; if it failed, order another eSIM.',
  cursor_invalid:
    'Start again without a cursor. Pass next_cursor as starting_after (lists) or cursor as after (wait_for_event), unchanged.',
  cursor_expired: 'Events after this place were removed. Call wait_for_event again without after.',
  stream_limit_reached: 'Wait until another call of wait_for_event has ended, or call list_events.',
  idempotency_key_reused: 'Use a new idempotency_key for a new request, or omit it.',
  idempotency_in_progress: 'Wait a second, then call the tool again.',
  rate_limited: 'Wait a second, then call the tool again.',
  json_invalid: 'Call the tool again with arguments that are nested less deeply.',
  body_too_large: 'Call the tool again with shorter arguments.',
  endpoint_limit_reached: 'Ask the user to delete an endpoint that is no longer used.',
  request_timeout: 'Call the tool again.',
  internal: 'Call the tool again. If it keeps failing, give the request id to the user.',
  unavailable: 'Wait a few seconds, then call the tool again.',
};

/** Lists valid product ids if the given one does not exist. */
async function availableProducts({ code, param }: ApiError, simplane: Simplane): Promise<string | undefined> {
  if (code !== 'resource_missing' || param !== 'product_id') return undefined;
  try {
    const { products, hasMore } = await firstProducts(simplane);
    return products.map(describeProduct).join('; ') + (hasMore ? '; list_products returns more' : '');
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
