import type { FastifyReply, FastifyRequest } from 'fastify';
import { encodePlace, type Place } from '../../notify/feed/cursor.ts';
import type { Feed } from '../../notify/feed/find-place.ts';
import { type Frame, frameOf, type Hub } from '../../notify/feed/hub.ts';
import { matchTypes, readAfter } from '../../notify/feed/read-page.ts';
import type { UnreadAnswers } from '../unread-answers.ts';

type Account = { id: string; uuid: string };

type Parts = {
  feed: Feed & { account: Account };
  hub: Hub;
  unread: UnreadAnswers;
  /** Called when a client is cut off because it reads too slowly. */
  onCut(): void;
};

export type Stream = {
  /** Shows that the connection lives, and how far the stream is if its filter hides the events. */
  beat(): void;
  end(): void;
};

// A stream reads small pages until it has caught up, so that a thousand of them stay small.
const catchUpBounds = { count: 1_000, maxBytes: 256 * 1024 };
// A live stream whose client has left this much unread is cut; it resumes from its last cursor.
const maxUnreadBytes = 1024 * 1024;

/** Answers with server-sent events from `place` on, until the client leaves or `end` is called. */
export function openStream(
  request: FastifyRequest,
  reply: FastifyReply,
  { feed, hub, unread, onCut }: Parts,
  { place: start, types }: { place: Place; types: readonly string[] | null },
): Stream {
  const { account } = feed;
  const response = reply.raw;
  const isWanted = matchTypes(types);
  let place = start;
  let announced = start.position;
  let isOpen = true;

  reply.hijack();
  response.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    Connection: 'close', // kept alive after its end, it would hold up a shutdown
    'X-Accel-Buffering': 'no', // nginx would collect events otherwise
  });
  // A place to resume from before the first event comes.
  response.write(`retry: 1000\nid: ${encodePlace(feed, start)}\n\n`);
  response.on('close', () => {
    isOpen = false;
    hub.leave(account, live);
  });
  response.on('error', () => {}); // `close` follows
  response.on('drain', () => unread.add(request, 0));

  /** Returns whether the client keeps up. */
  function write(frames: Frame[]): boolean {
    response.cork();
    for (const frame of frames) {
      if (frame.position <= place.position) continue;
      if (frame.position > place.position + 1) {
        response.destroy(); // better than a gap; its client resumes
        break;
      }
      place = { position: frame.position, mark: frame.mark };
      if (!isWanted(frame.type)) continue;
      response.write(frame.bytes);
      announced = frame.position;
    }
    response.uncork();
    unread.add(request, response.writableNeedDrain ? response.writableLength : 0);
    return !response.writableNeedDrain;
  }

  const live = {
    take(frames: Frame[]) {
      write(frames);
      if (response.writableLength <= maxUnreadBytes) return;
      onCut();
      response.destroy();
    },
    end,
  };

  function end(): void {
    hub.leave(account, live);
    response.end();
  }

  async function catchUp(): Promise<void> {
    while (isOpen && !response.writableEnded) {
      const events = await readAfter(feed, place, catchUpBounds, types);
      if (!isOpen || response.writableEnded) return; // it ended during the read
      if (events === null) return end(); // the next request gets the 410
      if (events.length === 0) {
        if (hub.join(account, live, place)) return;
        continue;
      }
      const frames = events.map((event) => frameOf(feed, event));
      if (!write(frames) && isOpen) await drained();
    }
  }

  /** The connection's own timeout cuts a client that does not read at all. */
  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.once('drain', done);
      response.once('close', done);
    });
  }

  // The client resumes from its last cursor.
  catchUp().catch(() => response.destroy());
  return {
    beat() {
      // A client that does not read is cut after a while, which a write would put off.
      if (response.writableEnded || response.writableNeedDrain) return;
      const isHidden = place.position > announced;
      announced = place.position;
      response.write(isHidden ? `id: ${encodePlace(feed, place)}\n\n` : ':\n\n');
    },
    end,
  };
}
