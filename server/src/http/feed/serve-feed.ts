import { feedLimits, type InputFor, type Operation } from '@simplane/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { deployment } from '../../accounts/deployment.ts';
import type { Service } from '../../background/service.ts';
import { findConsumer } from '../../notify/feed/consumers/get.ts';
import {
  type Feed,
  type Found,
  findPlace,
  findPlaceSince,
  type Pace,
  requirePlace,
} from '../../notify/feed/find-place.ts';
import { createHub } from '../../notify/feed/hub.ts';
import { readFeed, renderPage, waitForFeed } from '../../notify/feed/read-feed.ts';
import { AppError, invalid } from '../../platform/app-error.ts';
import { describeCause } from '../../platform/telemetry/describe-cause.ts';
import { createAccountTurns } from '../account-turns.ts';
import { onFirstCall } from '../on-first-call.ts';
import { compileQueryValidator, readQuery } from '../query.ts';
import { prefersStream } from '../representations.ts';
import { ownerOf } from '../request-owner.ts';
import { unlessGone } from '../unless-gone.ts';
import type { UnreadAnswers } from '../unread-answers.ts';
import { createOpenKeys } from './open-keys.ts';
import { openStream, type Stream } from './open-stream.ts';
import { createStreamLimits, type StreamOwner } from './stream-limits.ts';

type Query = InputFor<'readEventFeed'>['query'];
type FeedOperation = Operation & { query: NonNullable<Operation['query']> };
type Account = { id: string; uuid: string };

// Half of the 15 s that are promised, so that a late timer keeps the promise.
const beatMs = 7_500;

type Start = Found & { types: readonly string[] | null; param?: string };

/** Whether this operation is a feed: only these stream. */
export function isFeed(definition: Operation): definition is FeedOperation {
  return definition.streams === true && definition.query !== undefined;
}

/** The event feeds, of accounts and of the deployment: JSON pages that may wait, and streams. */
export function serveFeeds(
  app: FastifyInstance,
  service: Service,
  definitions: readonly FeedOperation[],
  unread: UnreadAnswers,
): void {
  const { metrics, log } = service;
  const turns = createAccountTurns(readLimits);
  const hub = createHub({
    cell: service.cell,
    db: service.db, // live streams do not wait for those that catch up
    onError: (error) =>
      log.warn({ cause: describeCause(error) }, 'the event feed could not be read; it will be retried'),
  });
  service.signals.on('feed', hub.wake);
  service.feedReaders.add(hub.hasReaders);
  const { streamsPerKey, streamsTotal, streamBeatMs = beatMs } = service;
  const limits = createStreamLimits({ perKey: streamsPerKey, total: streamsTotal });
  const open = new Set<Stream>();
  const openKeys = createOpenKeys(service);
  const beats = setInterval(() => {
    for (const one of open) one.beat();
  }, streamBeatMs).unref();
  // Not one signal for all: on Node 20, each `AbortSignal.any` of it would leave something behind.
  const waiting = new Set<AbortController>();

  app.addHook('preClose', (done) => {
    clearInterval(beats);
    openKeys.stop();
    for (const end of waiting) end.abort();
    hub.stop();
    for (const one of [...open]) one.end();
    done();
  });

  for (const definition of definitions) {
    const checkQuery = onFirstCall(() => compileQueryValidator(definition.query));
    app.route({
      method: definition.method,
      url: definition.path,
      config: { operation: definition },
      handler(request, reply) {
        const query = readQuery(definition.query, request.query as Record<string, unknown>) as Query;
        const invalid = checkQuery(query) ?? contradictionIn(query);
        if (invalid) throw invalid;
        return answer(request, reply, feedAccountOf(definition, request), query);
      },
    });
  }

  /** Accounts take turns to read a page of events, each when there is room for it. */
  function paceOf(request: FastifyRequest, { raw: response }: FastifyReply): Pace {
    const account = ownerOf(request);
    return async (maxBytes, read) => {
      await unread.reserve(request, maxBytes);
      const rows = await turns(account, unlessGone(response, read));
      unread.shrink(
        request,
        rows.reduce((bytes, { body }) => bytes + Buffer.byteLength(body ?? ''), 0),
      );
      return rows;
    };
  }

  async function answer(request: FastifyRequest, reply: FastifyReply, account: Account, query: Query) {
    const feed = { db: service.db, account, cell: service.cell, pace: paceOf(request, reply) };
    reply.header('Vary', 'Accept');
    // The answer to HEAD has no body, so it must end.
    if (request.method === 'GET' && prefersStream(request.headers.accept))
      return stream(request, reply, feed, query);
    const { limit = feedLimits.page.default, wait = 0 } = query;
    const page =
      wait === 0
        ? await readFeed(feed, readingOf(await findStart(feed, query), limit))
        : await readWaiting(request, reply, feed, query, { limit, wait });
    return reply.type('application/json').send(renderPage(feed, page));
  }

  /** Watches before the first read, so that an event that comes in between is noticed. */
  async function readWaiting(
    request: FastifyRequest,
    { raw: response }: FastifyReply,
    feed: Feed,
    query: Query,
    { limit, wait }: { limit: number; wait: number },
  ) {
    const close = limits.open(streamOwnerOf(request));
    const watch = hub.watch(feed.account);
    const end = new AbortController();
    let isRevoked = false;
    const onEnd = () => end.abort();
    // Not the socket's: a call from within this process (MCP) has none that closes.
    response.once('close', onEnd);
    const timer = setTimeout(onEnd, wait * 1_000);
    waiting.add(end);
    const forget = openKeys.add(request, {
      end() {
        isRevoked = true;
        onEnd();
      },
    });
    try {
      const start = await findStart(feed, query);
      request.heldFromMs = performance.now();
      const page = await waitForFeed(feed, watch, readingOf(start, limit), end.signal);
      if (isRevoked) throw keyRevoked();
      return page;
    } finally {
      response.off('close', onEnd);
      clearTimeout(timer);
      waiting.delete(end);
      forget();
      watch.close();
      close();
    }
  }

  async function stream(
    request: FastifyRequest,
    reply: FastifyReply,
    feed: Feed & { account: Account },
    query: Query,
  ) {
    const { raw } = request;
    const close = limits.open(streamOwnerOf(request));
    try {
      const resumeFrom = request.headers['last-event-id'];
      const start = await findStart(feed, typeof resumeFrom === 'string' ? { ...query, resumeFrom } : query);
      if (raw.socket.destroyed) return close();
      const parts = { feed, hub, unread, onCut: () => metrics.connectionsCut.inc({ reason: 'slow_stream' }) };
      request.heldFromMs = performance.now();
      const opened = openStream(request, reply, parts, start);
      open.add(opened);
      const forget = openKeys.add(request, opened);
      reply.raw.on('close', () => {
        open.delete(opened);
        forget();
        close();
      });
    } catch (error) {
      close();
      throw error;
    }
  }
}

// A reader that is far behind, or whose types hide everything, reads page after page and keeps a core of PostgreSQL busy. So an account
// reads one page at a time, of 5 ms: two took both cores of a small machine, and other accounts' answers 7 times as long.
const readLimits = { running: 2, waiting: 1_000, rests: true } as const;

/** Whose feed a request reads. */
function feedAccountOf({ scope }: Operation, { account }: FastifyRequest): Account {
  if (scope === 'operator') return deployment;
  if (!account) throw new Error('the feed was read without an account');
  return account;
}

/** Where a request begins, and with which types. */
async function findStart(
  feed: Feed & { account: Account },
  query: Query & { resumeFrom?: string },
): Promise<Start> {
  const { resumeFrom } = query;
  const consumer = query.consumer === undefined ? null : await findConsumer(feed, query.consumer, 'consumer');
  const types = consumer ? consumer.types : (query.type ?? null);
  if (resumeFrom) return { ...(await findPlace(feed, resumeFrom, 'Last-Event-ID')), types };
  if (consumer) return { ...(await requirePlace(feed, consumer, 'consumer')), types, param: 'consumer' };
  if (query.since !== undefined) return { ...(await findPlaceSince(feed, query.since)), types };
  return { ...(await findPlace(feed, query.after ?? 'now')), types };
}

function streamOwnerOf(request: FastifyRequest): StreamOwner {
  return { keyUuid: request.caller?.apiKey.uuid ?? '', account: ownerOf(request) };
}

function keyRevoked(): AppError {
  return new AppError(
    'api_key_invalid',
    'The API key, or the session, was revoked, expired or changed while the request waited. Send it again with a key that works.',
    {
      headers: { 'WWW-Authenticate': 'Bearer' },
    },
  );
}

function readingOf({ place, head, types, param }: Start, limit: number) {
  return { after: place, head, types, limit, ...(param !== undefined && { param }) };
}

function contradictionIn(query: Query): AppError | null {
  const { after, since, consumer, type } = query;
  if (consumer !== undefined && (after ?? since ?? type) !== undefined) {
    return invalid(
      'consumer',
      'consumer has its own place and types; send it without after, since and type.',
    );
  }
  if (after !== undefined && since !== undefined) {
    return invalid('since', 'Send either after or since, not both.');
  }
  return null;
}
