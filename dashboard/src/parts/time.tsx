import { useSyncExternalStore } from 'react';
import { ago, exact } from './format.ts';

// One timer for all times on the page.
const listeners = new Set<() => void>();
let nowSeconds = Math.floor(Date.now() / 1_000);
setInterval(() => {
  if (document.hidden) return;
  nowSeconds = Math.floor(Date.now() / 1_000);
  for (const listener of listeners) listener();
}, 1_000);

export function useNowSeconds(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => nowSeconds,
  );
}

/** A relative time, with the exact one as its title. */
export function Time({ at }: { at: number | null | undefined }) {
  const now = useNowSeconds();
  if (at === null || at === undefined) return <span className="quiet">never</span>;
  return (
    <time dateTime={new Date(at * 1_000).toISOString()} title={exact(at)}>
      {ago(at, now)}
    </time>
  );
}
