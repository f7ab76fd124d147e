import { AppError } from '../../app-error.ts';

export type StreamLimits = {
  /** Counts an open stream or waiting request until the returned function is called. Throws over a limit. */
  open(keyUuid: string): () => void;
};

/** Streams and waiting requests hold a connection each, so they are bounded per key and per process. */
export function createStreamLimits({ perKey, total }: { perKey: number; total: number }): StreamLimits {
  const openByKey = new Map<string, number>();
  let openCount = 0;

  return {
    open(keyUuid) {
      const ofKey = openByKey.get(keyUuid) ?? 0;
      if (ofKey >= perKey)
        throw limitReached(`This key has reached its limit of ${perKey} open streams and waiting requests`);
      if (openCount >= total)
        throw limitReached('This server has reached its limit of open streams and waiting requests');
      openByKey.set(keyUuid, ofKey + 1);
      openCount += 1;
      let isOpen = true;
      return () => {
        if (!isOpen) return;
        isOpen = false;
        openCount -= 1;
        const left = (openByKey.get(keyUuid) ?? 1) - 1;
        if (left > 0) openByKey.set(keyUuid, left);
        else openByKey.delete(keyUuid);
      };
    },
  };
}

function limitReached(what: string): AppError {
  return new AppError('stream_limit_reached', `${what}. Close one, or poll without "wait".`, {
    headers: { 'Retry-After': '5' },
  });
}
