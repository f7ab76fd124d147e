import { type Static, Type } from 'typebox';
import { idPattern, idPrefixes } from './ids.ts';

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

/** The closed list. A code is never reused for another meaning; `docs/errors.md` is generated from here. */
export const errors = {
  parameter_missing: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'A required parameter is absent.',
    remedy: 'Send the parameter that `param` names.',
  },
  parameter_invalid: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'A parameter has the wrong type, range or form, or holds text that cannot be stored.',
    remedy: 'Change the parameter that `param` names as the message says.',
  },
  parameter_unknown: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'The body or the query of a list has a parameter that this operation does not take.',
    remedy: 'Check the spelling of the parameter that `param` names, or leave it out.',
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
    meaning: '`starting_after` is not a cursor of this list with these filters.',
    remedy:
      'Pass the last `next_cursor` back unchanged, to the same list with the same filters, or start again without it.',
  },
  idempotency_key_invalid: {
    type: 'invalid_request_error',
    status: 400,
    meaning: '`Idempotency-Key` is empty, too long, or has characters outside printable ASCII.',
    remedy: 'Send 1 to 255 printable ASCII characters; a random UUID is a good choice.',
  },
  idempotency_key_reused: {
    type: 'idempotency_error',
    status: 400,
    meaning: 'The same `Idempotency-Key` was sent within 24 hours with another method, path, query or body.',
    remedy: 'Send the original request again, or use a new key for a new request.',
  },
  api_version_unknown: {
    type: 'invalid_request_error',
    status: 400,
    meaning: '`Service-Version` names a version that does not exist.',
    remedy: 'Send one of the versions that the message lists, or leave the header out.',
  },
  url_not_allowed: {
    type: 'invalid_request_error',
    status: 400,
    meaning: 'The address may not receive webhooks: its scheme, host or network is refused.',
    remedy: 'Use an address that the message allows; live mode takes public `https` only.',
  },
  request_malformed: {
    type: 'invalid_request_error',
    status: 400,
    meaning:
      'The bytes on the connection are not an HTTP request, or its path is not valid percent-encoding.',
    remedy: 'Check the client or the proxy in between.',
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
    meaning: 'The key is unknown here, or it was revoked.',
    remedy: 'Check that the key was copied whole and belongs to this deployment, or create a new one.',
  },
  api_key_expired: {
    type: 'authentication_error',
    status: 401,
    meaning: 'The key was given an end date, and it has passed.',
    remedy: 'Create a new key.',
  },
  api_key_wrong_mode: {
    type: 'authentication_error',
    status: 401,
    meaning: 'A test key was sent to a live deployment, or a live key to a sandbox.',
    remedy: 'Use `sp_test_…` keys with a sandbox and `sp_live_…` keys with a live deployment.',
  },
  scope_missing: {
    type: 'permission_error',
    status: 403,
    meaning: 'The key is good, but it lacks the scope that this operation needs.',
    remedy:
      'Use a key with the scope that the message names; whoever runs the service makes one with `simplane-server keys create --scopes`.',
  },
  sandbox_only: {
    type: 'permission_error',
    status: 403,
    meaning: 'The operation exists only in the sandbox.',
    remedy: 'Send it to a sandbox deployment with a test key.',
  },
  origin_not_allowed: {
    type: 'permission_error',
    status: 403,
    meaning: 'A web page of another site tried to reach `/mcp` through a browser.',
    remedy: 'Call from a program that sends no `Origin`, or from a page of the deployment’s own address.',
  },
  resource_missing: {
    type: 'invalid_request_error',
    status: 404,
    meaning: 'No such object in this account.',
    remedy: 'Check the id, and that the key belongs to the account that owns it.',
  },
  route_missing: {
    type: 'invalid_request_error',
    status: 404,
    meaning: 'No operation has this path.',
    remedy: 'Check the path against `/openapi.json`; every path starts with `/v1`.',
  },
  method_not_allowed: {
    type: 'invalid_request_error',
    status: 405,
    meaning: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the `Allow` header.',
  },
  request_timeout: {
    type: 'invalid_request_error',
    status: 408,
    meaning: 'The request did not arrive whole in time.',
    remedy: 'Send it again; with an `Idempotency-Key` that is always safe.',
  },
  idempotency_in_progress: {
    type: 'idempotency_error',
    status: 409,
    meaning: 'A request with the same `Idempotency-Key` is still running.',
    remedy: 'Wait as long as `Retry-After` says and send the same request again.',
  },
  esim_not_ready: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The eSIM is not provisioned yet, so there is no install profile.',
    remedy: 'Wait for `esim.provisioned` or for the execution to succeed.',
  },
  state_conflict: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The object is in a state that does not allow this operation.',
    remedy: 'Read the object again; the message names its state and what is allowed.',
  },
  endpoint_limit_reached: {
    type: 'conflict_error',
    status: 409,
    meaning: 'The account has as many webhook endpoints as it may have.',
    remedy: 'Delete one that is no longer used.',
  },
  core_not_connected: {
    type: 'conflict_error',
    status: 409,
    meaning:
      'This deployment has no connection to the operator’s core network, so nothing can be suspended or resumed.',
    remedy:
      'The operator sets `SIMPLANE_CORE_URL` and `SIMPLANE_CORE_SECRET`; then send the same request again.',
  },
  body_too_large: {
    type: 'invalid_request_error',
    status: 413,
    meaning: 'The body is larger than this operation takes: 256 kB, and 4 MB for usage records.',
    remedy: 'Send less in one request.',
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
    meaning: 'This key sends requests faster than it may, or this address sends many keys that do not exist.',
    remedy: 'Wait as long as `Retry-After` says; `RateLimit` tells what is left.',
  },
  headers_too_large: {
    type: 'invalid_request_error',
    status: 431,
    meaning: 'The request line and headers are larger than 16 kB together.',
    remedy: 'Send fewer or shorter headers, and a shorter query.',
  },
  internal: {
    type: 'api_error',
    status: 500,
    meaning:
      'Something broke on our side. Nothing was changed, or the answer to the same `Idempotency-Key` will tell.',
    remedy: 'Send it again with the same `Idempotency-Key`; if it persists, report the request id.',
  },
  unavailable: {
    type: 'api_error',
    status: 503,
    meaning:
      'The service cannot reach its database, has no room for another large body, or is shutting down.',
    remedy: 'Send it again shortly with the same `Idempotency-Key`.',
  },
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof errors;

export const errorCodes = Object.keys(errors) as ErrorCode[];

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      type: Type.Enum([...errorTypes], { description: 'What kind of thing went wrong.' }),
      code: Type.Enum(errorCodes, { description: 'What went wrong, from a closed list.' }),
      message: Type.String({ description: 'What to do next, for people.' }),
      param: Type.Optional(Type.String({ description: 'The parameter to change.' })),
      doc_url: Type.String({ description: 'Where the code is explained.' }),
      request_id: Type.String({ pattern: idPattern(idPrefixes.request) }),
    }),
  },
  { title: 'Error' },
);

export type ErrorBody = Static<typeof ErrorBody>;
