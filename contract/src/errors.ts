import type { Static } from 'typebox';
import { exampleId } from './example-values.ts';
import { idPattern, idPrefixes } from './ids.ts';
import { Type } from './type.ts';

export const errorTypes = [
  'invalid_request_error',
  'authentication_error',
  'permission_error',
  'idempotency_error',
  'rate_limit_error',
  'conflict_error',
  'api_error',
] as const;

export type ErrorType = (typeof errorTypes)[number];

type ErrorDefinition = { type: ErrorType; status: number; meaning: string; remedy: string };

/** Every error code. A code is never reused with another meaning. `docs/errors.md` is generated from this list. */
export const errors = {
  parameter_missing: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'A required parameter is missing.',
    remedy: 'Send the parameter named in `param`.',
  },
  parameter_invalid: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'A parameter has the wrong type, range or format, or contains text that cannot be stored.',
    remedy: 'Change the parameter named in `param` as the message says.',
  },
  parameter_unknown: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'The body, or the query of a list, has a parameter that this operation does not accept.',
    remedy: 'Check the spelling of the parameter named in `param`, or remove it.',
  },
  json_invalid: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'The body is not valid JSON, is not an object, or is nested too deeply.',
    remedy: 'Send one JSON object in UTF-8.',
  },
  cursor_invalid: {
    type: 'invalid_request_error',
    status: 400,
    meaning:
      '`starting_after` is not a cursor for this list with these filters, or a cursor of the feed was changed or belongs to another account.',
    remedy:
      'Send the last `next_cursor` unchanged to the same list with the same filters, or start again without a cursor. In the feed, send the last `cursor` unchanged.',
  },
  query_too_broad: {
    type: 'invalid_request_error',
    status: 400,
    meaning:
      'The filters match, or leave to be searched, too many items: the search would have taken too long, and was ended.',
    remedy:
      'Narrow the filters as the message says, for example with `created[gte]`. The same request may be too broad again.',
  },
  cursor_expired: {
    type: 'invalid_request_error',
    status: 410,
    meaning:
      'Events after this place in the feed have been removed, or the database was restored to a point before it.',
    remedy:
      'Read the current state of the objects that the missed events were about, then continue from `error.cursor`, the oldest place. A consumer moves there with `seek`.',
  },
  cursor_behind: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The consumer has already acknowledged events after this cursor.',
    remedy:
      'Another program uses the same consumer: run only one of them. `error.cursor` is the consumer’s place.',
  },
  consumer_limit_reached: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The account, or the deployment, has reached its limit of event consumers.',
    remedy: 'Delete a consumer that is no longer used.',
  },
  idempotency_key_invalid: {
    type: 'invalid_request_error',
    status: 400,
    meaning: '`Idempotency-Key` is empty, too long, or contains characters other than printable ASCII.',
    remedy: 'Send 1 to 255 printable ASCII characters, for example a random UUID.',
  },
  idempotency_key_reused: {
    type: 'idempotency_error',
    status: 400,
    meaning:
      'This `Idempotency-Key` was used in the last 24 hours with a different method, path, query or body.',
    remedy: 'Send the original request unchanged, or use a new key for a new request.',
  },
  api_version_unknown: {
    type: 'invalid_request_error',
    status: 400,
    meaning: '`Service-Version` names a version that does not exist.',
    remedy: 'Send a version that the message lists, or omit the header.',
  },
  url_not_allowed: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'The URL cannot receive webhooks: its scheme, host or network is not allowed.',
    remedy: 'Use a URL that the message allows. Live mode accepts only public `https` URLs.',
  },
  request_malformed: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'The request is not valid HTTP, or its path is not valid percent-encoding.',
    remedy: 'Check the client and any proxy in between.',
  },
  api_key_missing: {
    type: 'authentication_error',
    status: 401,
    meaning: 'The request has no `Authorization: Bearer` header.',
    remedy: 'Send `Authorization: Bearer <API_KEY>`.',
  },
  api_key_invalid: {
    type: 'authentication_error',
    status: 401,
    meaning: 'The key does not exist on this deployment, or was revoked.',
    remedy: 'Check that the key is complete and belongs to this deployment, or create a new one.',
  },
  api_key_expired: {
    type: 'authentication_error',
    status: 401,
    meaning: 'The key has expired.',
    remedy: 'Create a new key.',
  },
  api_key_wrong_mode: {
    type: 'authentication_error',
    status: 401,
    meaning: 'A test key was sent to a live deployment, or a live key to a sandbox.',
    remedy: 'Use `sp_test_…` keys with a sandbox and `sp_live_…` keys with a live deployment.',
  },
  wrong_cell: {
    type: 'invalid_request_error',
    status: 421,
    meaning: 'The key, session or link belongs to another cell of this service. Nothing was done.',
    remedy:
      'Send the request to the cell in `error.cell`. If a router chose this one, its operator should let it choose by the label.',
  },
  session_expired: {
    type: 'authentication_error',
    status: 401,
    meaning:
      'The dashboard has no session, or it has ended: it expired, was signed out, or its link was already used.',
    remedy: 'Sign in again with a key or a new link.',
  },
  csrf_token_invalid: {
    type: 'permission_error',
    status: 403,
    meaning: 'A write from the dashboard has no CSRF token, or not the token of its session.',
    remedy: 'Reload the page. Programs use /v1 with an API key instead.',
  },
  host_not_allowed: {
    type: 'permission_error',
    status: 403,
    meaning: 'The dashboard was opened under a host name that is not this deployment’s.',
    remedy:
      'Open it under the deployment’s public URL, or on the machine itself under 127.0.0.1 or localhost.',
  },
  api_key_address_refused: {
    type: 'authentication_error',
    status: 401,
    meaning: 'The key may not be used from this address: it is in none of the key’s `allowed_cidrs`.',
    remedy:
      'Send the request from an allowed address, or add the address in the message to the key’s `allowed_cidrs` with another key that has the `admin` scope.',
  },
  api_key_settings_refused: {
    type: 'permission_error',
    status: 403,
    meaning:
      'The key of the request may not give these settings: a key would expire later or work from more networks than it does itself, or it would change its own limits.',
    remedy:
      'Change the parameter named in `param` as the message says, or use a key with the `admin` scope that has no such limits. The operator can create any.',
  },
  scope_missing: {
    type: 'permission_error',
    status: 403,
    meaning: 'The key is valid but lacks the scope that this operation requires.',
    remedy:
      'Use a key with the scope that the message names. A key with the `admin` scope creates one with `POST /v1/api_keys`, if it has that scope itself; the operator can create any.',
  },
  account_suspended: {
    type: 'permission_error',
    status: 403,
    meaning:
      'The operator has suspended the account: it can read and revoke keys, but not write. Or it is closed, and an operator tried to write to it.',
    remedy: 'Ask the operator why. Open orders and deliveries continue.',
  },
  sandbox_only: {
    type: 'permission_error',
    status: 403,
    meaning: 'This operation is available only in a sandbox.',
    remedy: 'Send the request to a sandbox deployment with a test key.',
  },
  origin_not_allowed: {
    type: 'permission_error',
    status: 403,
    meaning: 'A browser sent the request to `/mcp` or the dashboard from a web page of another origin.',
    remedy:
      'Call `/mcp` from a program that sends no `Origin` header, or from a page on the deployment’s own origin. Instead of the dashboard, programs use `/v1` with an API key.',
  },
  resource_missing: {
    type: 'invalid_request_error',
    status: 404,
    meaning: 'The object does not exist in this account.',
    remedy: 'Check the id, and that the key belongs to the account that owns the object.',
  },
  route_missing: {
    type: 'invalid_request_error',
    status: 404,
    meaning: 'No operation has this path.',
    remedy: 'Check the path against `/openapi.json`; every path of the API starts with `/v1`.',
  },
  method_not_allowed: {
    type: 'invalid_request_error',
    status: 405,
    meaning: 'The path does not support this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  request_timeout: {
    type: 'invalid_request_error',
    status: 408,
    meaning: 'The complete request did not arrive in time.',
    remedy: 'Retry the request. With an `Idempotency-Key`, a retry is always safe.',
  },
  idempotency_in_progress: {
    type: 'idempotency_error',
    status: 409,
    meaning: 'A request with the same `Idempotency-Key` is still running.',
    remedy: 'Wait for `Retry-After` seconds, then send the same request again.',
  },
  esim_not_ready: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The eSIM is still provisioning, or its order failed, so there is no install profile.',
    remedy:
      'Wait for the `esim.provisioned` event, or for the execution to succeed. If the order failed, order another eSIM.',
  },
  state_conflict: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The object’s current state does not allow this operation.',
    remedy: 'Fetch the object again. The message names its state and what that state allows.',
  },
  endpoint_limit_reached: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The account, or the deployment, has reached its limit of webhook endpoints.',
    remedy: 'Delete an endpoint that is no longer used.',
  },
  install_link_limit_reached: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The eSIM has reached its limit of install links.',
    remedy: 'Revoke a link that is no longer used.',
  },
  api_key_limit_reached: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The account has reached its limit of usable API keys.',
    remedy: 'Revoke a key that is no longer used.',
  },
  core_not_connected: {
    type: 'conflict_error',
    status: 409,
    meaning:
      'This deployment is not connected to the operator’s core network, so it cannot suspend or resume eSIMs.',
    remedy: 'Ask the operator to connect the core network, then send the same request again.',
  },
  body_too_large: {
    type: 'invalid_request_error',
    status: 413,
    meaning: 'The body exceeds the limit of this operation: 256 kB, or 4 MB for usage records.',
    remedy: 'Send a smaller body.',
  },
  content_type_unsupported: {
    type: 'invalid_request_error',
    status: 415,
    meaning: 'The body is not `application/json`, or it is compressed.',
    remedy: 'Send `Content-Type: application/json` and an uncompressed body.',
  },
  rate_limited: {
    type: 'rate_limit_error',
    status: 429,
    meaning:
      'The key or its account exceeded its rate limit, too many requests of the account wait for the database, or this IP address sent too many invalid keys.',
    remedy:
      'Wait for `Retry-After` seconds, and send fewer requests at once. `RateLimit` shows the remaining quota.',
  },
  execution_limit_reached: {
    type: 'rate_limit_error',
    status: 429,
    meaning: 'The account has reached its limit of queued and running executions.',
    remedy:
      'Wait until some have ended, then send the same request again with the same `Idempotency-Key`. The operator can raise the limit.',
  },
  batch_limit_reached: {
    type: 'rate_limit_error',
    status: 429,
    meaning: 'The account has reached its limit of unfinished batches.',
    remedy: 'Wait until one has finished, then send the same request again with the same `Idempotency-Key`.',
  },
  stream_limit_reached: {
    type: 'rate_limit_error',
    status: 429,
    meaning:
      'The key, the account, or this process has reached its limit of open streams and waiting requests.',
    remedy: 'Close a stream that is no longer read, share one between readers, or poll without `wait`.',
  },
  headers_too_large: {
    type: 'invalid_request_error',
    status: 431,
    meaning: 'The request line and headers together exceed 16 kB.',
    remedy: 'Send fewer or shorter headers, or a shorter query.',
  },
  internal: {
    type: 'api_error',
    status: 500,
    meaning:
      'The server failed. If a write took effect anyway, a retry with the same `Idempotency-Key` returns its response.',
    remedy: 'Retry with the same `Idempotency-Key`. If the error persists, report the request id.',
  },
  unavailable: {
    type: 'api_error',
    status: 503,
    meaning:
      'The service cannot handle the request at the moment: its database is unavailable, it is at a concurrency limit, or it is shutting down.',
    remedy: 'Retry shortly with the same `Idempotency-Key`.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as ErrorCode[];

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      type: Type.Enum([...errorTypes], { description: 'Category of the error.' }),
      code: Type.Enum(errorCodes, { description: 'Error code, from a closed list.' }),
      message: Type.String({ description: 'Human-readable explanation and what to do next.' }),
      param: Type.Optional(Type.String({ description: 'Parameter that caused the error.' })),
      cursor: Type.Optional(
        Type.String({
          description: 'With `cursor_expired`, the oldest place; with `cursor_behind`, the consumer’s.',
        }),
      ),
      cell: Type.Optional(Type.String({ description: 'With `wrong_cell`, the cell that has it.' })),
      doc_url: Type.String({ description: 'Link to the documentation of the code.' }),
      request_id: Type.String({ pattern: idPattern(idPrefixes.request) }),
    }),
  },
  {
    title: 'Error',
    description: 'Why a request failed, and what to do.',
    examples: [
      {
        error: {
          type: 'invalid_request_error',
          code: 'parameter_invalid',
          message: 'limit must be at least 1; got 0.',
          param: 'limit',
          doc_url: '/docs#error-parameter_invalid',
          request_id: exampleId(idPrefixes.request),
        },
      },
    ],
  },
);

export type ErrorBody = Static<typeof ErrorBody>;
