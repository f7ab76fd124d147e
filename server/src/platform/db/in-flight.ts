import type pg from 'pg';

type Flight = { client: pg.PoolClient; isRead: boolean; startedAtMs: number };

export type InFlight = {
  start(client: pg.PoolClient, isRead: boolean): Flight;
  end(flight: Flight): void;
  /** Statements and transactions that have run for longer than this. */
  olderThan(ageMs: number): Flight[];
};

/** Tracks every statement and transaction that this process waits for. */
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

const readByName = new Map<string, boolean>(); // bounded, because statements have fixed names and texts

/** Whether a named statement neither writes nor locks. */
export function isRead({ name, text }: { name: string; text: string }): boolean {
  const known = readByName.get(name);
  if (known !== undefined) return known;
  const result =
    !/\b(insert into|delete from|update|for share)\b|_lock\(|_lock_shared\(|pg_notify|nextval/i.test(text);
  readByName.set(name, result);
  return result;
}
