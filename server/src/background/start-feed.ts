import { startSequencer } from '../feed/sequencer.ts';
import type { Service } from '../service.ts';

/** Starts giving events their positions in the feed. */
export function startFeed({ db, clock, signals }: Service, onError: (error: unknown) => void) {
  const sequencer = startSequencer({
    db,
    clock,
    onPositions(accountUuids) {
      for (const accountUuid of accountUuids) signals.announce('feed', accountUuid);
    },
    onError,
  });
  // Whoever writes events announces the account's deliveries. A longer subject is a retry or an enabled endpoint.
  signals.on('deliveries', (subject) => {
    if (!subject?.includes('/')) sequencer.wake();
  });
  return sequencer;
}
