import { lowestUuid } from '../../platform/ids/uuid-range.ts';

type Job = { account_id: string };

/** Whose states are sent next: accounts take turns, and one that has its share in flight waits. */
export function createAccountTurns({ perAccount }: { perAccount: number }) {
  const inFlight = new Map<string, number>();
  let last = lowestUuid;

  return {
    /** The accounts after which to look: the last one that had its turn, then all from the first. */
    starts: (): string[] => (last === lowestUuid ? [lowestUuid] : [last, lowestUuid]),

    full: (): string[] =>
      [...inFlight].filter(([, count]) => count >= perAccount).map(([account]) => account),

    begin(jobs: readonly Job[]): void {
      for (const { account_id } of jobs) inFlight.set(account_id, (inFlight.get(account_id) ?? 0) + 1);
      const accounts = jobs.map(({ account_id }) => account_id).sort();
      last = accounts.at(-1) ?? last;
    },

    end({ account_id }: Job): void {
      const left = (inFlight.get(account_id) ?? 1) - 1;
      if (left > 0) inFlight.set(account_id, left);
      else inFlight.delete(account_id);
    },
  };
}
