import type { History } from '../history/history.ts';
import type { Violation } from './violation.ts';

/** What docs/keys.md promises for every process. */
export const refusedAfterMs = 5_000;

/**
 * A key or a session that was ended is refused by every process, for good. While an old primary is up beside the new one, processes
 * that still read it do not know of the end.
 */
export function endedCredentialsAreRefused(history: History): Violation[] {
  const { sent, credentials, staleReads, losesCommits } = history;
  if (losesCommits) return [];
  return credentials.flatMap(({ id, endedMs }) => {
    if (endedMs === null) return [];
    const accepted = sent.filter(
      ({ credential, status, sentMs }) =>
        credential === id &&
        status === 200 &&
        sentMs > endedMs + refusedAfterMs &&
        !staleReads.some(({ fromMs, toMs }) => fromMs <= sentMs && sentMs <= toMs + refusedAfterMs),
    );
    return accepted.map(({ process, sentMs }) => ({
      about: [id],
      what: `${process} accepted ${id} ${sentMs - endedMs} ms after it was ended`,
    }));
  });
}
