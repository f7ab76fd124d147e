import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../platform/app-error.ts';
import { ownerOf } from './request-owner.ts';
import { createTokenBuckets } from './token-buckets.ts';

export type RefusalPace = {
  /** Calls `answer` at once or, after too many, when it is due. */
  answer(request: FastifyRequest, reply: FastifyReply, refusal: AppError, answer: () => void): void;
  /** Answers all that wait, and holds no more. */
  end(): void;
};

// More than clients have by mistake that wait as `Retry-After` says. Of bodies with 119 kB, a hundred a second made others 6 times slower.
const perSecond = 20;
const burst = 100;
const maxOwners = 10_000;
// Shorter than the time after which clients give up. What would wait longer is spread over half of it, not answered all at once.
const longestMs = 10_000;

/**
 * Answers 20 refusals a second to an account or, without a key, to an address; the others wait. Whoever asks again at once after each
 * refusal would otherwise keep the process busy: 1,000 connections made another account's answers 200 times slower. Only strangers and
 * those over a limit wait: a known key is told at once what is wrong with its request. What waits keeps its connection, so the share
 * of connections bounds how much one address can have waiting.
 */
export function createRefusalPace(): RefusalPace {
  const monotonicMs = () => performance.now();
  const bucketOf = createTokenBuckets({ perSecond, burst, limit: maxOwners, monotonicMs });
  const held = new Set<() => void>();
  let isEnded = false;

  function hold(reply: FastifyReply, delayMs: number, answer: () => void): void {
    const forget = () => {
      clearTimeout(timer);
      held.delete(end);
    };
    const end = () => {
      forget();
      answer();
    };
    const timer = setTimeout(end, delayMs);
    reply.raw.once('close', forget);
    held.add(end);
  }

  return {
    answer(request, reply, { status }, answer) {
      const isPaced = status === 429 || (status < 500 && request.caller === null);
      if (!isPaced) return answer();
      const bucket = bucketOf(ownerOf(request));
      bucket.tokens = Math.max(bucket.tokens - 1, (-longestMs / 1_000) * perSecond);
      if (bucket.tokens >= 0 || isEnded) return answer();
      request.heldFromMs = performance.now();
      const dueMs = (-bucket.tokens / perSecond) * 1_000;
      hold(reply, Math.min(dueMs, longestMs * (1 - Math.random() / 2)), answer);
    },
    end() {
      isEnded = true;
      for (const end of [...held]) end();
    },
  };
}
