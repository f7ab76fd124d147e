import type { History } from './history.ts';

/** Records an action on the deployment; printed with violations. */
export function note(history: History, text: string): void {
  history.notes.push({ atMs: Date.now(), text });
}
