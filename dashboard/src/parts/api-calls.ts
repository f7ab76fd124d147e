import { useSyncExternalStore } from 'react';

const storageKey = 'simplane.api-calls';
const listeners = new Set<() => void>();
let isShown = localStorage.getItem(storageKey) === 'yes';

/** Whether each action shows its call as curl beside it. The browser remembers it. */
export function useShowsCalls(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => isShown,
  );
}

export function toggleCalls(): void {
  isShown = !isShown;
  localStorage.setItem(storageKey, isShown ? 'yes' : 'no');
  for (const listener of listeners) listener();
}
