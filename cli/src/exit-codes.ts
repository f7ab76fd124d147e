/** What scripts may rely on; docs/cli.md has the same table. */
export const exitCodes = {
  ok: 0,
  /** The service refused, or the work failed. */
  refused: 1,
  /** The command line itself is wrong. */
  usage: 2,
  /** No answer, or none of Simplane's. */
  unreachable: 3,
  /** No key, a wrong one, or one that may not do this. */
  unauthorized: 4,
  /** The wait was over before the work was. */
  unfinished: 5,
} as const;
