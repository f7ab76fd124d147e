import type { Cell } from '../../platform/cell.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { every } from '../../platform/worker/every.ts';
import { runWhenWoken } from '../../platform/worker/wake.ts';
import { type CursorOwner, encodePlace, type Place } from './cursor.ts';
import { type FeedEvent, readAfter } from './read-page.ts';
import { findHeads } from './sql/read.ts';

type Account = { id: string; uuid: string };

/** One frame of a stream, shared by all streams of the account. */
export type Frame = FeedEvent & { bytes: Buffer };

/** A stream that has read everything so far. */
type LiveStream = {
  /** Takes the next events; those that it has already sent are among them at the start. */
  take(frames: Frame[]): void;
  /** The place is no longer in the feed: the client must learn about it from a new request. */
  end(): void;
};

/** Notices new events of an account. */
export type Watch = {
  /** Resolves with true after the account got events since the last call, with false when `until` is aborted or the hub stops. */
  next(until: AbortSignal): Promise<boolean>;
  close(): void;
};

type Entry = {
  account: Account;
  watches: Set<WokenWatch>;
  streams: Set<LiveStream>;
  /** How far the streams are. */
  place: Place;
  /** The last position that a poll saw. */
  polled: number;
  /** Reads what is new for the streams. */
  looking: { wake(): void };
};

type Options = { db: Queryable; cell: Cell; pollMs?: number; onError(error: unknown): void };

const bounds = { count: 1_000, maxBytes: 1024 * 1024 };

export type Hub = ReturnType<typeof createHub>;

/** Reads new events once per account, for all of its streams in this process. */
export function createHub({ db, cell, pollMs = 1_000, onError }: Options) {
  const entries = new Map<string, Entry>();
  let isStopped = false;

  function entryOf(account: Account): Entry {
    const known = entries.get(account.uuid);
    if (known) return known;
    const entry: Entry = {
      account,
      watches: new Set(),
      streams: new Set(),
      place: { position: 0, mark: 0 },
      polled: 0,
      looking: runWhenWoken(
        () => passOn(entry),
        (error) => {
          entry.polled = -1; // the poll looks again
          onError(error);
        },
      ),
    };
    entries.set(account.uuid, entry);
    return entry;
  }

  function forgetIfUnused(entry: Entry): void {
    if (entry.watches.size === 0 && entry.streams.size === 0) entries.delete(entry.account.uuid);
  }

  function wakeEntry({ watches, looking }: Entry): void {
    for (const watch of [...watches]) watch.wake();
    looking.wake();
  }

  async function passOn(entry: Entry): Promise<void> {
    const { account, streams } = entry;
    while (streams.size > 0 && !isStopped) {
      const from = entry.place;
      const events = await readAfter({ db, account, cell }, from, bounds);
      if (entry.place !== from) continue; // during the read all streams left, and a new one joined at another place
      if (events === null) {
        for (const stream of [...streams]) stream.end();
        return;
      }
      const last = events.at(-1);
      if (!last) return;
      entry.place = { position: last.position, mark: last.mark };
      const frames = events.map((event) => frameOf({ account, cell }, event));
      for (const stream of [...streams]) stream.take(frames);
    }
  }

  /** Fallback for missed signals: one statement for all accounts with readers. */
  async function poll(): Promise<void> {
    if (entries.size === 0) return;
    for (const { accountUuid, position } of await findHeads(db, [...entries.keys()])) {
      const entry = entries.get(accountUuid);
      if (!entry || position === entry.polled) continue;
      entry.polled = position;
      wakeEntry(entry);
    }
  }

  const polling = every(pollMs, poll, onError);

  return {
    /** Whether anybody waits for new events. */
    hasReaders: () => entries.size > 0,

    watch(account: Account): Watch {
      const entry = entryOf(account);
      const watch = createWatch(
        () => isStopped,
        () => {
          entry.watches.delete(watch);
          forgetIfUnused(entry);
        },
      );
      entry.watches.add(watch);
      return watch;
    },

    /**
     * Adds a stream that has sent everything up to `place`, or ends it if the hub has stopped. Returns false if the others are further:
     * read on, then try again.
     */
    join(account: Account, stream: LiveStream, place: Place): boolean {
      if (isStopped) {
        stream.end(); // its request began before the stop
        return true;
      }
      const entry = entryOf(account);
      if (entry.streams.size === 0) entry.place = place;
      else if (entry.place.position > place.position) return false;
      entry.streams.add(stream);
      entry.looking.wake(); // something may have come since its last read
      return true;
    },

    leave(account: Account, stream: LiveStream): void {
      const entry = entries.get(account.uuid);
      if (!entry?.streams.delete(stream)) return;
      forgetIfUnused(entry);
    },

    /** The account has new positions; without one, look at all. */
    wake(accountUuid?: string): void {
      const woken = accountUuid === undefined ? [...entries.values()] : [entries.get(accountUuid)];
      for (const entry of woken) if (entry) wakeEntry(entry);
    },

    /** Ends all streams and waits. */
    stop(): void {
      isStopped = true;
      void polling.stop().catch(onError);
      for (const { watches, streams } of entries.values()) {
        for (const watch of [...watches]) watch.wake();
        for (const stream of [...streams]) stream.end();
      }
    },
  };
}

type WokenWatch = Watch & { wake(): void };

function createWatch(isStopped: () => boolean, close: () => void): WokenWatch {
  let hasNews = false;
  let endWait = () => {};
  return {
    wake() {
      hasNews = true;
      endWait();
    },
    async next(until) {
      if (!hasNews && !until.aborted && !isStopped()) {
        await new Promise<void>((done) => {
          const finish = () => {
            until.removeEventListener('abort', finish);
            done();
          };
          endWait = finish;
          until.addEventListener('abort', finish, { once: true });
        });
      }
      const hadNews = hasNews;
      hasNews = false;
      return hadNews && !isStopped();
    },
    close,
  };
}

/** The body has no line break: `JSON.stringify` escapes them. */
export function frameOf(owner: CursorOwner, event: FeedEvent): Frame {
  const text = `id: ${encodePlace(owner, event)}\nevent: ${event.type}\ndata: ${event.body}\n\n`;
  return { ...event, bytes: Buffer.from(text) };
}
