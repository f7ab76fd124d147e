import { type ErrorCode, errors } from '@simplane/contract';
import { clip } from './telemetry/clip.ts';

// Responses and log lines quote names that the client chose, so their length is bounded.
const maxParamLength = 60;
const maxMessageLength = 1_000;

type Details = {
  param?: string;
  cursor?: string;
  cell?: string;
  cause?: unknown;
  headers?: Record<string, string>;
};

/**
 * An error with a code from the contract's closed list. `message` is public; `cause` never leaves the process.
 * `message` and `param` are truncated here, so no error repeats much of a request.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  /** Where to continue in the event feed. */
  readonly cursor: string | undefined;
  /** Where the request belongs. */
  readonly cell: string | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    const param = details.param === undefined ? undefined : clip(details.param, maxParamLength);
    super(clip(shorten(message, details.param, param), maxMessageLength), { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = param;
    this.cursor = details.cursor;
    this.cell = details.cell;
    this.headers = details.headers ?? {};
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** The state of an object forbids it. */
export function conflict(message: string, param?: string): AppError {
  return new AppError('state_conflict', message, param === undefined ? {} : { param });
}

/** A parameter has a value that it cannot have. */
export function invalid(param: string, message: string): AppError {
  return new AppError('parameter_invalid', message, { param });
}

export function noSuch(kind: string, id: string, param = 'id'): AppError {
  return new AppError('resource_missing', `No ${kind} has the id "${clip(id)}".`, { param });
}

/** Truncates the parameter's name inside the message too, so the rest of the message is not cut off. */
function shorten(message: string, given: string | undefined, param: string | undefined): string {
  if (given === undefined || param === undefined || given === param) return message;
  return message.split(given).join(param);
}

/** An invalid setting; the server does not start. The message names the setting and the values it accepts. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
