const maxLength = { param: 100, message: 300 };

/** An argument that the tool itself rejects. Quoted arguments are truncated. */
export class InvalidArgument extends Error {
  override name = 'InvalidArgument';
  readonly param: string;

  constructor(param: string, message: string) {
    super(truncate(message, maxLength.message));
    this.param = truncate(param, maxLength.param);
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

/** For tools whose arguments are not sent to the API as they are; elsewhere the API rejects unknown names. */
export function rejectUnknownArguments(args: object, known: readonly string[]): void {
  const unknown = Object.keys(args).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new InvalidArgument(
      unknown,
      `${truncate(unknown, maxLength.param)} is not a parameter; this tool takes ${known.join(', ')}.`,
    );
  }
}

/** Never cuts within a surrogate pair: half of one is not valid JSON. */
function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}
