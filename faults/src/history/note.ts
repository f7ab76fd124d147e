import type { History } from './history.ts';

/** Keeps what was done to the deployment, for whoever reads a violation. */
export function note(history: History, text: string): void {
  history.notes.push({ atMs: Date.now(), text });
}
