import { type ErrorCode, errors } from '@simplane/contract';
import { clip } from './telemetry/clip.ts';

// Names that a client made up and texts that quote them go into answers and log lines.
const longestParam = 60;
const longestMessage = 1_000;

type Details = { param?: string; cause?: unknown; headers?: Record<string, string> };

/**
 * A refusal with a code from the contract's closed list. `message` is public; `cause` never leaves the process. Both `message`
 * and `param` are cut here, so that no refusal repeats more of a request than is needed to find the place.
 */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    const param = details.param === undefined ? undefined : clip(details.param, longestParam);
    super(clip(shorten(message, details.param, param), longestMessage), { cause: details.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = param;
    this.headers = details.headers ?? {};
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** A message that names a parameter names it as shortly as `param` does, so that what it says about it is not cut off. */
function shorten(message: string, given: string | undefined, param: string | undefined): string {
  if (given === undefined || param === undefined || given === param) return message;
  return message.split(given).join(param);
}
