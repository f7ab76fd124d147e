import { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../platform/app-error.ts';
import { ownerOf } from './request-owner.ts';

// Smaller ones are not counted: a connection has one response at a time, so the connection limit bounds them.
const countedFromBytes = 16 * 1024;

// A page of 100 executions has 28 kB, so this much is unread only if clients do not read.
const budgetBytes = 32 * 1024 * 1024;
// Two of the largest pages. Beyond it, the account's next large answer waits.
const accountBudgetBytes = 8 * 1024 * 1024;

// Half of the time after which a client that reads nothing is disconnected.
const maxWaitMs = 10_000;
const maxWaitingPerAccount = 500;

declare module 'fastify' {
  interface FastifyRequest {
    /** Its connection has closed or its response was read: work that goes on for it must hold no memory. */
    hasEnded: boolean;
  }
}

type Request = Pick<FastifyRequest, 'raw' | 'caller' | 'ip' | 'hasEnded'>;

export type UnreadAnswers = {
  /**
   * Call before a large answer is read from the database: waits until the account's other answers leave room for it. The bytes
   * count until `add` or `end`, and replace what the request held before. Refuses with 429 if that takes too long.
   */
  reserve(request: Request, bytes: number): Promise<void>;
  /** Call when it turns out that fewer bytes are needed. */
  shrink(request: Request, bytes: number): void;
  /** Call when a response is written, with the bytes that are not read yet. */
  add(request: Request, bytes: number): void;
  /** Call when the response was read or its connection closed. */
  end(request: Request): void;
};

type Account = {
  /** Of all its answers, reserved or written. */
  bytes: number;
  waiting: Map<Request, Waiter>; // in the order of their turn
};
/** `socket` is null until the answer is written. */
type Held = { account: string; bytes: number; socket: Socket | null };
type Waiter = { bytes: number; start(): void; refuse(): void };

/**
 * Tracks large responses from the time they are read until the kernel has taken them, per account. Over the budget of the process,
 * the oldest of the account that holds most are cut: a client that reads has received its response long before.
 */
export function createUnreadAnswers(onCut: () => void): UnreadAnswers {
  const accounts = new Map<string, Account>();
  const held = new Map<Request, Held>(); // in insertion order
  let writtenBytes = 0;

  function accountOf(id: string): Account {
    const account = accounts.get(id) ?? { bytes: 0, waiting: new Map() };
    accounts.set(id, account);
    return account;
  }

  function hold(request: Request, { account, bytes, socket }: Held): void {
    held.set(request, { account, bytes, socket });
    accountOf(account).bytes += bytes;
    if (socket) writtenBytes += bytes;
  }

  function release(request: Request): void {
    const given = held.get(request);
    if (!given) return;
    held.delete(request);
    accountOf(given.account).bytes -= given.bytes;
    if (given.socket) writtenBytes -= given.bytes;
  }

  function startWaiting(id: string): void {
    const account = accountOf(id);
    for (const waiter of account.waiting.values()) {
      if (!hasRoom(account, waiter.bytes)) break; // the next must not overtake it
      waiter.start();
    }
    if (account.bytes === 0 && account.waiting.size === 0) accounts.delete(id);
  }

  function wait(request: Request, id: string, bytes: number): Promise<void> {
    const { waiting } = accountOf(id);
    return new Promise((resolve, reject) => {
      const leave = () => {
        clearTimeout(timer);
        waiting.delete(request);
      };
      const refuse = () => {
        leave();
        reject(tooMuchUnread());
        startWaiting(id);
      };
      const start = () => {
        leave();
        hold(request, { account: id, bytes, socket: null });
        resolve();
      };
      const timer = setTimeout(refuse, maxWaitMs).unref();
      waiting.set(request, { bytes, start, refuse });
    });
  }

  function cutOldest(): void {
    const written = [...held].filter(([, { socket }]) => socket !== null);
    const bytesOf = (id: string) => accountOf(id).bytes;
    const most = Math.max(...written.map(([, { account }]) => bytesOf(account)));
    const [request, { socket, account }] = written.find(([, one]) => bytesOf(one.account) === most) as [
      Request,
      Held,
    ];
    release(request);
    socket?.destroy();
    onCut();
    startWaiting(account);
  }

  return {
    async reserve(request, bytes) {
      const id = ownerOf(request);
      release(request);
      startWaiting(id); // they came before its next page
      const account = accountOf(id);
      if (account.waiting.size >= maxWaitingPerAccount || request.hasEnded) throw tooMuchUnread();
      if (account.waiting.size > 0 || !hasRoom(account, bytes)) await wait(request, id, bytes);
      else hold(request, { account: id, bytes, socket: null });
    },
    shrink(request, bytes) {
      const given = held.get(request);
      if (!given) return;
      release(request);
      hold(request, { ...given, bytes });
      startWaiting(given.account);
    },
    add(request, bytes) {
      const { socket } = request.raw;
      const id = ownerOf(request);
      release(request);
      // A closed socket holds no memory, and its entry would never be removed. A call from /mcp has no real socket.
      if (bytes >= countedFromBytes && socket instanceof Socket && !socket.destroyed) {
        hold(request, { account: id, bytes, socket });
        while (writtenBytes > budgetBytes && writtenBytes > bytes) cutOldest();
      }
      startWaiting(id);
    },
    end(request) {
      request.hasEnded = true;
      if (accounts.size === 0) return; // nobody holds anything, as with most writes
      const id = ownerOf(request);
      accounts.get(id)?.waiting.get(request)?.refuse();
      release(request);
      startWaiting(id);
    },
  };
}

/** An account always has room for one answer, however large. */
function hasRoom({ bytes: heldBytes }: Account, bytes: number): boolean {
  return heldBytes === 0 || heldBytes + bytes <= accountBudgetBytes;
}

function tooMuchUnread(): AppError {
  return new AppError(
    'rate_limited',
    'This account has more than 8 MB of answers that its clients have not read. Read them or close their connections, then retry.',
    { headers: { 'Retry-After': '5' } },
  );
}
