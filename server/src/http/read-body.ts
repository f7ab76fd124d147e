import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/app-error.ts';
import { ownerOf } from './request-owner.ts';

// Smaller bodies are not counted: an order has 200 bytes, and the connection limit bounds how many there are.
const countedFromBytes = 16 * 1024;

// 32 MB in total, eight of the largest bodies (usage records, 4 MB). Blocks are reused, because freed buffers wait for the
// garbage collector: 60 unfinished bodies of 4 MB took 114 MB without reuse (250 MB without a budget).
const blockBytes = 64 * 1024;
const maxBlocks = 512;
// Half the budget: complete bodies are never cut, so without this one account could lock out all others.
const maxBlocksPerOwner = maxBlocks / 2;

/** A large body. It can be cut while it arrives; once complete it keeps its blocks until the request is answered. */
type ArrivingBody = { owner: string; blocks: Buffer[]; cut(): void };

type Done = (error: Error | null, body?: Buffer) => void;

export type BodyReader = {
  read(request: FastifyRequest, payload: IncomingMessage, done: Done): void;
  /** Frees the body's blocks at the end of the request. */
  release(request: FastifyRequest): void;
};

declare module 'fastify' {
  interface FastifyRequest {
    heldBody: ArrivingBody | null;
  }
}

/**
 * Reads complete bodies within a budget per process, of which one account gets at most half. If an account exceeds its half,
 * its oldest unfinished body is cut; if the whole budget is used, that happens to the account that holds most.
 */
export function createBodyReader(onCut: () => void): BodyReader {
  const arriving = new Set<ArrivingBody>(); // oldest first
  const blocksOf = new Map<string, number>(); // by owner, including complete bodies
  const free: Buffer[] = [];
  let allocated = 0;

  function count(owner: string, change: number): void {
    const blocks = (blocksOf.get(owner) ?? 0) + change;
    if (blocks === 0) blocksOf.delete(owner);
    else blocksOf.set(owner, blocks);
  }

  /** False if this body itself was cut. */
  function addBlock(held: ArrivingBody): boolean {
    for (;;) {
      const isAtLimit = (blocksOf.get(held.owner) ?? 0) >= maxBlocksPerOwner;
      if (!isAtLimit && (free.length > 0 || allocated < maxBlocks)) break;
      const victim = oldestOf(arriving, isAtLimit ? held.owner : largestOwner(arriving, blocksOf));
      victim.cut();
      onCut();
      if (victim === held) return false;
    }
    const block = free.pop();
    if (!block) allocated += 1;
    held.blocks.push(block ?? Buffer.allocUnsafeSlow(blockBytes));
    count(held.owner, 1);
    return true;
  }

  function store(held: ArrivingBody, chunk: Buffer, at: number): void {
    for (let done = 0; done < chunk.length; ) {
      const [index, offset] = [Math.floor((at + done) / blockBytes), (at + done) % blockBytes];
      if (index === held.blocks.length && !addBlock(held)) return;
      done += chunk.copy(held.blocks[index] as Buffer, offset, done);
    }
  }

  function read(request: FastifyRequest, payload: IncomingMessage, done: Done): void {
    const limitBytes = request.routeOptions.bodyLimit;
    const announcedBytes = Number(request.headers['content-length'] ?? Number.NaN);
    let small: Buffer = empty;
    let receivedBytes = 0;

    // Most bodies are one chunk, which is kept as is. Others are copied, because a one-byte chunk would take 400 bytes.
    const take = (chunk: Buffer) => {
      const at = receivedBytes;
      receivedBytes += chunk.length;
      const isSmall = receivedBytes < countedFromBytes;
      if (receivedBytes > limitBytes) end(tooLarge(limitBytes));
      else if (at === 0 && (isSmall || receivedBytes === announcedBytes)) small = chunk;
      else if (isSmall) {
        if (small.length < countedFromBytes) small = widen(small);
        chunk.copy(small, at);
      } else takeLarge(chunk, at);
    };
    const takeLarge = (chunk: Buffer, at: number) => {
      if (request.heldBody === null) {
        const owner = ownerOf(request);
        request.heldBody = { owner, blocks: [], cut: () => end(noRoom()) };
        arriving.add(request.heldBody);
        store(request.heldBody, small.subarray(0, at), 0);
      }
      if (request.heldBody !== null) store(request.heldBody, chunk, at);
    };
    const finish = () => {
      const isComplete = Number.isNaN(announcedBytes) || announcedBytes === receivedBytes;
      end(
        isComplete
          ? null
          : new AppError('request_malformed', 'The body is shorter than its Content-Length. Send it again.'),
      );
    };
    const end = (error: Error | null) => {
      payload.off('data', take).off('end', finish).off('error', end);
      const held = request.heldBody;
      if (held !== null) arriving.delete(held);
      if (error === null) {
        done(null, held ? Buffer.concat(held.blocks, receivedBytes) : small.subarray(0, receivedBytes));
      } else {
        release(request);
        done(error);
      }
    };

    if (announcedBytes > limitBytes) {
      done(tooLarge(limitBytes));
      return;
    }
    payload.on('data', take).on('end', finish).on('error', end);
    payload.resume();
  }

  function release(request: FastifyRequest): void {
    const held = request.heldBody;
    if (held === null) return;
    arriving.delete(held);
    free.push(...held.blocks);
    count(held.owner, -held.blocks.length);
    request.heldBody = null;
  }

  return { read, release };
}

const empty = Buffer.alloc(0);

function widen(body: Buffer): Buffer {
  const wider = Buffer.allocUnsafeSlow(countedFromBytes);
  body.copy(wider);
  return wider;
}

/** The owner that holds most blocks, among those with an unfinished body. */
function largestOwner(arriving: Iterable<ArrivingBody>, blocksOf: Map<string, number>): string {
  let largest = '';
  let most = -1;
  for (const { owner } of arriving) {
    const blocks = blocksOf.get(owner) ?? 0;
    if (blocks > most) [largest, most] = [owner, blocks];
  }
  return largest;
}

function oldestOf(bodies: Iterable<ArrivingBody>, wanted: string): ArrivingBody {
  for (const held of bodies) if (held.owner === wanted) return held;
  throw new Error('an owner without a body');
}

function tooLarge(limitBytes: number): AppError {
  const size = limitBytes < 1024 * 1024 ? `${limitBytes / 1024} kB` : `${limitBytes / 1024 / 1024} MB`;
  return new AppError('body_too_large', `The body is larger than ${size}. Send a smaller one.`);
}

function noRoom(): AppError {
  return new AppError('unavailable', 'Too many large request bodies at once; retry shortly.', {
    headers: { 'Retry-After': '1' },
  });
}
