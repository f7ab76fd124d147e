import type { ErrorCode, ErrorType, Execution } from './generated.ts';

/** Everything that this SDK throws. */
export class SimplaneError extends Error {
  override name = 'SimplaneError';
}

/** No answer came: refused, reset, cut off in the middle. The work may or may not have been done; a retry with the same key is safe. */
export class ConnectionError extends SimplaneError {
  override name = 'ConnectionError';
}

/** The time that the call was given is over. As with a lost connection, a retry with the same key is safe. */
export class TimeoutError extends SimplaneError {
  override name = 'TimeoutError';
}

/** A webhook that must not be trusted. */
export class SignatureVerificationError extends SimplaneError {
  override name = 'SignatureVerificationError';
}

/** The work that was waited for failed; `execution.error` says why. */
export class ExecutionFailedError extends SimplaneError {
  override name = 'ExecutionFailedError';
  readonly execution: Execution;

  constructor(execution: Execution) {
    super(execution.error?.message ?? `${execution.id} failed.`);
    this.execution = execution;
  }
}

type Answer = { status: number; headers: Headers; body: unknown };

/** The service refused, and says why: branch on `code`, show `message`, quote `requestId`. */
export class ApiError extends SimplaneError {
  override name = 'ApiError';
  readonly type: ErrorType | undefined;
  /** From a closed list; undefined when the answer was not the service's own, a proxy's for example. */
  readonly code: ErrorCode | undefined;
  readonly status: number;
  /** The parameter at fault, when there is one. */
  readonly param: string | undefined;
  readonly docUrl: string | undefined;
  readonly requestId: string | undefined;
  readonly headers: Headers;

  constructor({ status, headers, body }: Answer) {
    const error = errorOf(body);
    super(
      error.message ?? `The answer was ${status}, and not in the form of the API: is the base URL right?`,
    );
    this.type = error.type;
    this.code = error.code;
    this.status = status;
    this.param = error.param;
    this.docUrl = error.doc_url;
    this.requestId = error.request_id ?? headers.get('request-id') ?? undefined;
    this.headers = headers;
  }
}

export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
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
/** Something went wrong on the service's side. */
export class ServerError extends ApiError {
  override name = 'ServerError';
}

const classes: Record<ErrorType, typeof ApiError> = {
  invalid_request_error: InvalidRequestError,
  authentication_error: AuthenticationError,
  permission_error: PermissionError,
  idempotency_error: IdempotencyError,
  rate_limit_error: RateLimitError,
  conflict_error: ConflictError,
  api_error: ServerError,
};

export function apiErrorOf(answer: Answer): ApiError {
  const { type } = errorOf(answer.body);
  const Class = (type && classes[type]) ?? (answer.status >= 500 ? ServerError : ApiError);
  return new Class(answer);
}

type ErrorFields = {
  type?: ErrorType;
  code?: ErrorCode;
  message?: string;
  param?: string;
  doc_url?: string;
  request_id?: string;
};

function errorOf(body: unknown): ErrorFields {
  const error = (body as { error?: unknown } | null)?.error;
  return typeof error === 'object' && error !== null ? error : {};
}
