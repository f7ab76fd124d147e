const longest = { param: 100, message: 300 };

/** An argument that never reaches the API, since the tool itself cannot use it. What it quotes of the call is cut. */
export class InvalidArgument extends Error {
  override name = 'InvalidArgument';
  readonly param: string;

  constructor(param: string, message: string) {
    super(cut(message, longest.message));
    this.param = cut(param, longest.param);
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
      `${cut(other, longest.param)} is not a parameter; this tool takes ${known.join(', ')}.`,
    );
  }
}

/** Not within a surrogate pair: half of one is not JSON. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).replace(/[\ud800-\udbff]$/, '')}…`;
}
