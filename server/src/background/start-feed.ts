import { startSequencer } from '../notify/feed/sequencer.ts';
import { placeInOrder } from '../notify/webhooks/ordered/place-in-order.ts';
import { runWhenWoken } from '../platform/worker/wake.ts';
import type { Service } from './service.ts';

/** Starts giving events their positions in the feed, and ordered deliveries theirs. */
export function startFeed(service: Service, onError: (error: unknown) => void) {
  const { db, clock, signals } = service;
  const placer = runWhenWoken(() => placeInOrder(service), onError); // after an error, a chore does it
  const sequencer = startSequencer({
    db,
    clock,
    onPositions(accountUuids, hasWaiting) {
      for (const accountUuid of accountUuids) signals.announce('feed', accountUuid);
      if (hasWaiting) placer.wake();
    },
    onError,
  });
  // Whoever writes events announces the account's deliveries. A longer subject is a retry or an enabled endpoint.
  const unsubscribe = signals.on('deliveries', (subject) => {
    if (!subject?.includes('/')) sequencer.wake();
  });
  return {
    async stop() {
      unsubscribe();
      await sequencer.stop();
      await placer.stop();
    },
  };
}
