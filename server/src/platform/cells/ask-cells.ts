import type { CellTrouble } from '@simplane/contract';
import type { Logger } from 'pino';
import { errors, Pool } from 'undici';
import { type Cell, nameOf } from '../cell.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Peer } from './peer.ts';

/** What is asked. `isAnswer` decides whether JSON is an answer of that cell: a broken one must not become an error of ours. */
type Question<T> = {
  method: 'GET' | 'POST';
  path: string;
  body?: object;
  isAnswer(json: unknown, cell: Cell): json is T;
};

export type Answered<T> = { cell: Cell } & ({ answer: T } | { cause: CellTrouble });

export type Cells = {
  /** The cells that are asked. Empty in a deployment that stands alone. */
  others: readonly Cell[];
  /** Asks all other cells at once. Never rejects; what a cell says comes within `timeoutMs`. */
  ask<T>(question: Question<T>): Promise<Answered<T>[]>;
  close(): Promise<void>;
};

type Options = {
  peers: readonly Peer[];
  userAgent: string;
  log: Pick<Logger, 'info' | 'warn'>;
  metrics: Pick<Metrics, 'cellRequestCount'>;
  timeoutMs?: number;
  pauseMs?: number;
};

// An operator waits for it, and so does an SM-DP+ with a notification. A cell that works answers in milliseconds.
const askTimeoutMs = 3_000;
// A cell that hangs costs each request the whole timeout, and usage records have few turns. So it is left alone for a while.
const hangingPauseMs = 5_000;
// The largest answer, an outcome for each of 10,000 usage records, has 180 kB.
const maxBytes = 1024 * 1024;
// Of this process to each cell, in each lane. What waits longer than the timeout counts as not answered.
const connections = 16;

/** The other cells, as far as this process knows them. Their addresses are the operator's own, so no address policy applies. */
export function createCells({
  peers,
  userAgent,
  log,
  metrics,
  timeoutMs = askTimeoutMs,
  pauseMs = hangingPauseMs,
}: Options): Cells {
  const createLane = (origin: string) => ({
    pool: new Pool(origin, {
      connections,
      pipelining: 1,
      maxResponseSize: maxBytes,
      maxHeaderSize: 16 * 1024,
      connect: { timeout: timeoutMs, rejectUnauthorized: true }, // explicit, so that no environment variable can turn it off
    }),
    pausedUntilMs: 0,
    trouble: null as CellTrouble | null,
  });
  // One for what people look at and one for what is passed on: a slow overview must not hold up usage.
  const known = peers.map((peer) => ({
    ...peer,
    lanes: { GET: createLane(peer.origin), POST: createLane(peer.origin) },
  }));
  type Known = (typeof known)[number];

  return {
    others: known.map(({ cell }) => cell),
    ask: (question) => Promise.all(known.map((peer) => askOne(peer, question))),
    close: async () => {
      const lanes = known.flatMap((peer) => Object.values(peer.lanes));
      await Promise.all(lanes.map(({ pool }) => pool.destroy()));
    },
  };

  async function askOne<T>(peer: Known, question: Question<T>): Promise<Answered<T>> {
    const { cell } = peer;
    const lane = peer.lanes[question.method];
    if (performance.now() < lane.pausedUntilMs) return { cell, cause: 'timeout' };
    const answered = await request(peer, question);
    const cause = 'cause' in answered ? answered.cause : null;
    if (cause === 'timeout') lane.pausedUntilMs = performance.now() + pauseMs;
    metrics.cellRequestCount.inc({ cell: cell ?? '', outcome: cause ?? 'answered' });
    if (cause !== lane.trouble) {
      const host = new URL(peer.origin).host;
      if (cause === null) log.info({ cell, host }, `${nameOf(cell)} answers again`);
      else log.warn({ cell, host, cause }, `${nameOf(cell)} did not answer`);
    }
    lane.trouble = cause;
    return answered;
  }

  async function request<T>({ cell, key, lanes }: Known, question: Question<T>): Promise<Answered<T>> {
    const { method, path, body, isAnswer } = question;
    const { pool } = lanes[method];
    // Covers the body too: a cell that sends a byte a second is as good as none.
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await pool.request({
        ...{ method, path, signal },
        headers: {
          authorization: `Bearer ${key}`,
          accept: 'application/json',
          'user-agent': userAgent,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const cause = causeOfStatus(response.statusCode);
      if (cause) {
        response.body.dump().catch(() => {}); // only the status matters
        return { cell, cause };
      }
      const json: unknown = JSON.parse(await response.body.text());
      return isAnswer(json, cell) ? { cell, answer: json } : { cell, cause: 'invalid_answer' };
    } catch (error) {
      return { cell, cause: signal.aborted ? 'timeout' : causeOf(error) };
    }
  }
}

/** Null for an answer. A redirect is not followed: the key is for this address alone. */
function causeOfStatus(status: number): CellTrouble | null {
  if (status === 200) return null;
  if (status === 401 || status === 403 || status === 421) return 'key_refused';
  return status >= 400 ? 'failed' : 'invalid_answer';
}

function causeOf(error: unknown): CellTrouble {
  const isInvalid =
    error instanceof SyntaxError ||
    error instanceof errors.ResponseExceededMaxSizeError ||
    error instanceof errors.HTTPParserError ||
    error instanceof errors.HeadersOverflowError;
  return isInvalid ? 'invalid_answer' : 'unreachable';
}
