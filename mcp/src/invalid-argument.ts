import type { ErrorCode } from '@simplane/contract';
import { shortenText } from './bound-answer.ts';

const maxLength = { param: 100, message: 300 };

/** An argument that the tool itself rejects. Quoted arguments are truncated. */
export class InvalidArgument extends Error {
  override name = 'InvalidArgument';
  readonly param: string;
  readonly code: ErrorCode;

  constructor(param: string, message: string, code: ErrorCode = 'parameter_invalid') {
    super(shortenText(message, maxLength.message));
    this.code = code;
    this.param = shortenText(param, maxLength.param);
  }
}

/** Checks that the value can be used in a path. The API validates its format. */
export function idArgument(param: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return value;
  throw new InvalidArgument(
    param,
    `${param} must be an id; got ${value === undefined ? 'nothing' : JSON.stringify(value)}.`,
  );
}

/** Rejected here and not by the API, which does not know which arguments this tool has. */
export function rejectUnknownArguments(args: object, known: readonly string[]): void {
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidArgument(
      unknown,
      `${shortenText(unknown, maxLength.param)} is not an argument; this tool takes ${known.join(', ')}.`,
      'parameter_unknown',
    );
  }
}
