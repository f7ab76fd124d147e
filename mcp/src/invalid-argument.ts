/** An argument that never reaches the API, since the tool itself cannot use it. */
export class InvalidArgument extends Error {
  override name = 'InvalidArgument';
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

/** An id as it stands in a path; what it may look like is for the API to judge. */
export function idArgument(param: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') return value;
  throw new InvalidArgument(
    param,
    `${param} must be an id; got ${value === undefined ? 'nothing' : JSON.stringify(value)}.`,
  );
}

/** Misspelt names are refused by the API wherever it sees them; this is for tools whose arguments it does not see. */
export function refuseOthers(args: object, known: readonly string[]): void {
  const other = Object.keys(args).find((name) => !known.includes(name));
  if (other !== undefined) {
    throw new InvalidArgument(
      other,
      `${other.slice(0, 100)} is not a parameter; this tool takes ${known.join(', ')}.`,
    );
  }
}
