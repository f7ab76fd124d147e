import { type ErrorCode, errors } from '@simplane/contract';

type Details = { param?: string; cause?: unknown; headers?: Record<string, string> };

/** A refusal with a code from the contract's closed list. `message` is public; `cause` never leaves the process. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = details.param;
    this.headers = details.headers ?? {};
  }

  get status(): number {
    return errors[this.code].status;
  }
}
