import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { thisRelease } from '../deployment/processes.ts';
import type { Cell } from './cell.ts';

export type Customer = {
  account: string;
  accountUuid: string;
  /** Each order's idempotency key, and every execution that was ever answered for it. */
  orders: ReadonlyMap<string, ReadonlySet<string>>;
  /** What was read of the feed, by one cursor, in its order. */
  read: readonly string[];
  /** The whole feed as it is now. */
  readAll(): Promise<string[]>;
  stop(): Promise<void>;
};

const answered = new Set([200, 202]);

/** A customer with a key of its home, who only knows the router's address: orders, and reads its feed, until it is stopped. */
export async function startCustomer(home: Cell, url: string): Promise<Customer> {
  const command = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)(process.execPath, [thisRelease.server, ...args, '--json'], {
      env: home.env,
    });
    return JSON.parse(stdout)[0];
  };
  const name = `Customer ${randomUUID()}`;
  const { id: account } = await command('accounts', 'create', '--name', name);
  const { key } = await command('keys', 'create', '--account', account, '--scopes', 'read,write');
  const [row] = await home.query<{ id: string }>('select id from accounts where name = $1', [name]);
  const orders = new Map<string, Set<string>>();
  const read: string[] = [];
  let isStopped = false;

  /** Until it is answered; null if the answer did not come, or asked to try again. */
  async function send(path: string, init: RequestInit = {}) {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...init.headers };
    for (;;) {
      const reply = await fetch(url + path, { ...init, headers }).catch(() => null);
      const text = await reply?.text().catch(() => undefined);
      if (reply && text !== undefined && answered.has(reply.status)) return JSON.parse(text);
      // 421 until the router knows, 502 and 503 while something is down or frozen.
      if (reply && ![421, 502, 503, 504].includes(reply.status)) throw new Error(`${reply.status} ${text}`);
      await sleep(50);
    }
  }

  async function order(): Promise<void> {
    while (!isStopped) {
      const idempotencyKey = randomUUID();
      const init = {
        method: 'POST',
        body: '{"product_id":"prod_europe_5gb_30d"}',
        headers: { 'Idempotency-Key': idempotencyKey },
      };
      const executions = new Set<string>();
      // Twice: the second is a replay, perhaps in another cell.
      for (let time = 0; time < 2; time++) executions.add((await send('/v1/esims', init)).execution_id);
      orders.set(idempotencyKey, executions);
      await sleep(20);
    }
  }

  async function follow(cursor: string, into: string[]): Promise<string> {
    for (let after = cursor; ; ) {
      const page = await send(`/v1/events/feed?limit=100&after=${encodeURIComponent(after)}`);
      into.push(...page.data.map((event: { id: string }) => event.id));
      after = page.cursor;
      if (page.caught_up) return after;
    }
  }

  let cursor = 'start';
  const reading = async () => {
    while (!isStopped) {
      cursor = await follow(cursor, read);
      await sleep(50);
    }
  };
  const running = Promise.all([order(), order(), reading()]);
  return {
    ...{ account, accountUuid: row?.id as string, orders, read },
    async readAll() {
      cursor = await follow(cursor, read);
      const whole: string[] = [];
      await follow('start', whole);
      return whole;
    },
    async stop() {
      isStopped = true;
      await running;
    },
  };
}
