import { AppError } from '../../platform/app-error.ts';

export type StreamOwner = { keyUuid: string; account: string };

export type StreamLimits = {
  /** Counts an open stream or waiting request until the returned function is called. Throws over a limit. */
  open(owner: StreamOwner): () => void;
};

// Consumers share work by keys of their own, so 20 is plenty for a key; an idle stream takes 8 kB.
type Limits = { perKey: number | undefined; total: number | undefined };

/** Streams and waiting requests hold a connection each, so they are bounded per key, account and process. */
export function createStreamLimits({ perKey = 20, total = 1_000 }: Limits): StreamLimits {
  const perAccount = Math.max(1, Math.floor(total / 10));
  const ofKeys = createCounts();
  const ofAccounts = createCounts();
  let openCount = 0;

  return {
    open({ keyUuid, account }) {
      if (ofKeys.of(keyUuid) >= perKey) throw limitReached(`This key has reached its limit of ${perKey}`);
      if (ofAccounts.of(account) >= perAccount)
        throw limitReached(`This account has reached its limit of ${perAccount}`);
      if (openCount >= total) throw limitReached('This server has reached its limit of');
      const change = (by: number) => {
        ofKeys.add(keyUuid, by);
        ofAccounts.add(account, by);
        openCount += by;
      };
      change(1);
      let isOpen = true;
      return () => {
        if (isOpen) change(-1);
        isOpen = false;
      };
    },
  };
}

function createCounts() {
  const counts = new Map<string, number>();
  return {
    of: (id: string) => counts.get(id) ?? 0,
    add(id: string, change: number) {
      const count = (counts.get(id) ?? 0) + change;
      if (count > 0) counts.set(id, count);
      else counts.delete(id);
    },
  };
}

function limitReached(whose: string): AppError {
  return new AppError(
    'stream_limit_reached',
    `${whose} open streams and waiting requests. Close one, or poll without "wait".`,
    { headers: { 'Retry-After': '5' } },
  );
}
