import type pg from 'pg';

type Flight = { client: pg.PoolClient; isRead: boolean; startedAtMs: number };

export type InFlight = {
  start(client: pg.PoolClient, isRead: boolean): Flight;
  end(flight: Flight): void;
  /** Those that have been under way for this long. */
  olderThan(ageMs: number): Flight[];
};

/** Every statement and transaction that this process waits for. */
export function createInFlight(): InFlight {
  const flights = new Set<Flight>();
  return {
    start(client, isRead) {
      const flight = { client, isRead, startedAtMs: performance.now() };
      flights.add(flight);
      return flight;
    },
    end: (flight) => void flights.delete(flight),
    olderThan(ageMs) {
      const limitMs = performance.now() - ageMs;
      return [...flights].filter(({ startedAtMs }) => startedAtMs < limitMs);
    },
  };
}

const verdicts = new Map<string, boolean>();

/** Whether a named statement writes nothing and locks nothing. Statements have fixed names and texts, so this is bounded. */
export function isRead({ name, text }: { name: string; text: string }): boolean {
  const known = verdicts.get(name);
  if (known !== undefined) return known;
  const verdict =
    !/\b(insert into|delete from|update|for share)\b|_lock\(|_lock_shared\(|pg_notify|nextval/i.test(text);
  verdicts.set(name, verdict);
  return verdict;
}
