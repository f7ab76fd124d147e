import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext } from 'react';
import { useLive } from '../live/use-live.tsx';
import { ErrorNote } from './error-note.tsx';
import { clock } from './format.ts';
import { useNowSeconds } from './time.tsx';

const hidden = Symbol('query');

/**
 * Something that a screen reads from the API. What was read is inside `Shown` only, which has a look for each of loading, failed and
 * stale: no screen can claim anything before it knows.
 */
export type Reading<Data> = {
  readonly [hidden]: UseQueryResult<Data>;
  readonly pollMs: number | false;
  /** It is read again when an event arrives, and not otherwise. */
  readonly followsEvents: boolean;
};

type Options<Data> = {
  queryKey: readonly unknown[];
  queryFn(): PromiseLike<Data>;
  /** How often it is read again. Without it, events of the account make it read again. */
  pollMs?: number | false | ((data: Data | undefined) => number | false);
  /** It never changes. */
  isStatic?: boolean;
  /** For how long it need not be read again. */
  staleMs?: number;
  isEnabled?: boolean;
};

export function useReading<Data>({
  queryKey,
  queryFn,
  pollMs = false,
  ...options
}: Options<Data>): Reading<Data> {
  const pollOf = (data: Data | undefined) => (typeof pollMs === 'function' ? pollMs(data) : pollMs);
  const query = useQuery({
    queryKey,
    queryFn: async () => queryFn(),
    refetchInterval: ({ state }) => pollOf(state.data),
    ...(options.staleMs !== undefined && { staleTime: options.staleMs }),
    ...(options.isStatic && { staleTime: 'static' as const }),
    ...(options.isEnabled !== undefined && { enabled: options.isEnabled }),
  });
  const poll = pollOf(query.data);
  const followsEvents = poll === false && options.staleMs === undefined && !options.isStatic;
  return { [hidden]: query, pollMs: poll, followsEvents };
}

/** What is known so far, without a word if it is not. Only for names beside ids, which stand for themselves. */
export function peek<Data>(reading: Reading<Data>): Data | undefined {
  return reading[hidden].data;
}

/** Whether it is being read for the first time. */
export function isLoading(reading: Reading<unknown>): boolean {
  return reading[hidden].isPending;
}

const Fresh = createContext(true);

type Props<Data> = {
  of: Reading<Data>;
  /** Such as “the orders”: “Could not load the orders.” */
  what: string;
  /** The heading of a screen that needs what is read for its own. */
  before?: ReactNode;
  children(data: Data): ReactNode;
};

export function Shown<Data>({ of: reading, what, before, children }: Props<Data>) {
  const { data, error, dataUpdatedAt, refetch } = reading[hidden];
  const staleSince = useStaleSince(reading);
  const retry = () => void refetch().catch(() => {}); // the error is shown here
  if (data === undefined) {
    return (
      <>
        {before}
        {error ? <Failed what={what} error={error} onRetry={retry} /> : <Loading what={what} />}
      </>
    );
  }
  return (
    <Fresh value={staleSince === null}>
      {staleSince !== null && (
        <Stale what={what} atSeconds={dataUpdatedAt / 1_000} error={error} onRetry={retry} />
      )}
      {children(data)}
    </Fresh>
  );
}

// An answer takes seconds at most, unless the connection is lost without a word.
const lateMs = 10_000;

/** When it was last read, if that is too long ago; null while it is fresh. */
function useStaleSince<Data>({ pollMs, followsEvents, ...reading }: Reading<Data>): number | null {
  const { error, dataUpdatedAt, isFetching } = reading[hidden];
  const { state } = useLive();
  const ageMs = useNowSeconds() * 1_000 - dataUpdatedAt;
  const isLate = isFetching && ageMs > (pollMs === false ? 0 : pollMs) + lateMs;
  const isStale = error !== null || isLate || (followsEvents && state === 'lost');
  return isStale ? dataUpdatedAt : null;
}

/** Grey bars. Words for screen readers only: nothing is known yet. */
export function Loading({ what }: { what: string }) {
  return (
    <div className="skeleton" role="status" aria-busy="true">
      <span className="hidden">Loading {what}…</span>
      <i />
      <i />
      <i />
    </div>
  );
}

function Failed({ what, error, onRetry }: { what: string; error: Error; onRetry(): void }) {
  return (
    <div className="failed-reading">
      <ErrorNote error={error} lead={`Could not load ${what}.`}>
        <button type="button" className="control" onClick={onRetry}>
          Retry
        </button>
      </ErrorNote>
    </div>
  );
}

type StaleProps = { what: string; atSeconds: number; error: Error | null; onRetry(): void };

function Stale({ what, atSeconds, error, onRetry }: StaleProps) {
  return (
    <p className="stale" role="status">
      <span>
        As of {clock(atSeconds)} UTC: could not read {what} again
        {error ? `. ${error.message}` : ', the server does not answer.'}
      </span>
      <button type="button" className="plain link" onClick={onRetry}>
        Retry
      </button>
    </p>
  );
}

/** Good news, with a tick only if it was read just now. */
export function AllWell({ children }: { children: ReactNode }) {
  const isFresh = useContext(Fresh);
  return (
    <span className={isFresh ? 'well ok' : 'well quiet'}>
      {isFresh && '✓ '}
      {children}
    </span>
  );
}
