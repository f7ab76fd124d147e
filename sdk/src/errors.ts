import type { ErrorCode, ErrorType, Execution } from './generated.ts';
import { markErrorClasses } from './mark-error-classes.ts';

/** Base class of all errors that this SDK defines. */
export class SimplaneError extends Error {
  override name = 'SimplaneError';
  /** The key of the write that failed. Repeat the call with it: the write runs at most once. */
  declare idempotencyKey: string | undefined;
  /** True if the write that failed may have taken effect: repeat it only with `idempotencyKey`. */
  declare mayHaveTakenEffect: boolean | undefined;
  /** The execution as last seen, if the error came while waiting for one. It continues in the background. */
  declare execution: Execution | undefined;
}

/** The connection was refused, reset or cut off. A write may have taken effect; a retry with the same key is safe. */
export class ConnectionError extends SimplaneError {
  override name = 'ConnectionError';
}

/** The call exceeded its timeout. A write may have taken effect; a retry with the same key is safe. */
export class TimeoutError extends SimplaneError {
  override name = 'TimeoutError';
}

/** Why a webhook was refused. `secret_missing` and `body_not_raw` are mistakes in the receiver itself. */
export type SignatureVerificationReason =
  | 'header_missing'
  | 'header_invalid'
  | 'secret_missing'
  | 'body_not_raw'
  | 'signature_mismatch'
  | 'timestamp_out_of_tolerance'
  | 'body_not_json';

/** The webhook must not be trusted: it is not authentic or too old, or it could not be checked. */
export class SignatureVerificationError extends SimplaneError {
  override name = 'SignatureVerificationError';
  readonly reason: SignatureVerificationReason;

  constructor(reason: SignatureVerificationReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The execution failed; `execution.error` says why. */
export class ExecutionFailedError extends SimplaneError {
  override name = 'ExecutionFailedError';
  declare execution: Execution; // always set here

  constructor(execution: Execution) {
    super(execution.error?.message ?? `${execution.id} failed.`);
    this.execution = execution;
  }
}

/** Someone else moved the consumer during `consumers.run`, so events may have been handled twice. */
export class ConsumerInUseError extends SimplaneError {
  override name = 'ConsumerInUseError';
}

type Answer = { status: number; headers: Headers; body: unknown };

/** The API returned an error: branch on `code`, show `message`, quote `requestId`. */
export class ApiError extends SimplaneError {
  override name = 'ApiError';
  readonly type: ErrorType | undefined;
  /** From a closed list; undefined if the response came from elsewhere, such as a proxy. */
  readonly code: ErrorCode | undefined;
  readonly status: number;
  /** The parameter that caused the error, if any. */
  readonly param: string | undefined;
  /** With `cursor_expired`, the oldest place in the feed; with `cursor_behind`, the consumer's. */
  readonly cursor: string | undefined;
  /** With `wrong_cell`, the cell that the request belongs to. */
  readonly cell: string | undefined;
  readonly docUrl: string | undefined;
  readonly requestId: string | undefined;
  readonly headers: Headers;

  constructor({ status, headers, body }: Answer) {
    const error = errorOf(body);
    super(error.message ?? `The response (HTTP ${status}) is not from the Simplane API. Check the base URL.`);
    this.type = error.type;
    this.code = error.code;
    this.status = status;
    this.param = error.param;
    this.cursor = error.cursor;
    this.cell = error.cell;
    this.docUrl = error.doc_url;
    this.requestId = error.request_id ?? headers.get('request-id') ?? undefined;
    this.headers = headers;
  }
}

export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}
/** Events after this place have been removed, or the database was restored. `cursor` is the oldest place there is. */
export class CursorExpiredError extends InvalidRequestError {
  override name = 'CursorExpiredError';
  declare readonly cursor: string; // always set here
}
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError';
}
export class PermissionError extends ApiError {
  override name = 'PermissionError';
}
export class IdempotencyError extends ApiError {
  override name = 'IdempotencyError';
}
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
/** The server failed. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

const classesByType: Record<ErrorType, typeof ApiError> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  idempotency_error: IdempotencyError,
  rate_limit_error: RateLimitError,
  conflict_error: ConflictError,
  api_error: ServerError,
};

export function apiErrorOf(answer: Answer): ApiError {
  const { type, code } = errorOf(answer.body);
  if (code === 'cursor_expired') return new CursorExpiredError(answer);
  // Another server may send any type, also `constructor`, which every object has.
  const known = type !== undefined && Object.hasOwn(classesByType, type) ? classesByType[type] : undefined;
  const Class = known ?? (answer.status >= 500 ? ServerError : ApiError);
  return new Class(answer);
}

type ErrorFields = {
  type?: ErrorType;
  code?: ErrorCode;
  message?: string;
  param?: string;
  cursor?: string;
  cell?: string;
  doc_url?: string;
  request_id?: string;
};

function errorOf(body: unknown): ErrorFields {
  const error = (body as { error?: unknown } | null)?.error;
  return typeof error === 'object' && error !== null ? error : {};
}

markErrorClasses(SimplaneError, {
  SimplaneError,
  ConnectionError,
  TimeoutError,
  SignatureVerificationError,
  ExecutionFailedError,
  ConsumerInUseError,
  ApiError,
  InvalidRequestError,
  CursorExpiredError,
  AuthenticationError,
  PermissionError,
  IdempotencyError,
  RateLimitError,
  ConflictError,
  ServerError,
});
