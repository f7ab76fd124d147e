import { CursorExpiredError, type WebhookEvent } from '@simplane/sdk';
import type { Connect } from '../client.ts';

export type LiveState = 'live' | 'paused' | 'lost';

type Options = {
  connect: Connect;
  onEvent(event: WebhookEvent): void;
  onState(state: LiveState): void;
};

// After a failure the stream is opened again after this time.
const retryMs = 2_000;

/**
 * Follows the account's events while the tab is visible, and continues after the last one when it is shown again, so nothing is
 * missed. Returns a function that stops it.
 */
export function followWhileVisible({ connect, onEvent, onState }: Options): () => void {
  let cursor: string | undefined;
  let current: AbortController | null = null;
  let isStopped = false;
  // Once connected, the SDK tries again for ever and throws nothing, so the state is that of its last attempt.
  const api = connect(({ status }) => {
    if (current) onState(status === 200 ? 'live' : 'lost');
  });

  async function follow(ending: AbortController): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        // A place to continue from, also if the tab is hidden before an event comes.
        cursor ??= (await api.events.feed({ after: 'now' }, { signal: ending.signal })).cursor;
        const events = api.events.follow({ after: cursor, signal: ending.signal });
        for await (const event of events) {
          cursor = events.cursor ?? cursor;
          onEvent(event);
        }
      } catch (error) {
        if (error instanceof CursorExpiredError) cursor = undefined; // it would be refused for ever
        if (ending.signal.aborted) return;
        onState('lost');
        await new Promise((resolve) => setTimeout(resolve, retryMs));
      }
    }
  }

  function adapt(): void {
    if (document.hidden || isStopped) {
      current?.abort();
      current = null;
      if (!isStopped) onState('paused');
    } else if (!current) {
      current = new AbortController();
      follow(current).catch(() => onState('lost'));
    }
  }

  document.addEventListener('visibilitychange', adapt);
  adapt();
  return () => {
    isStopped = true;
    document.removeEventListener('visibilitychange', adapt);
    adapt();
  };
}
