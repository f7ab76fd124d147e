/** Scripts rely on these; docs/cli.md documents them. */
export const exitCodes = {
  ok: 0,
  /** The service refused, or the order failed. */
  refused: 1,
  /** The command line is invalid. */
  usage: 2,
  /** No answer, a server error, or an answer that is not Simplane's. */
  unreachable: 3,
  /** The API key is missing, invalid or lacks the scope. */
  unauthorized: 4,
  /** --wait timed out before the order finished. */
  unfinished: 5,
} as const;
