import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { idPrefixes } from '@simplane/contract';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../../faults/src/random.ts';
import { deployment } from '../../src/accounts/deployment.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { idOfUuid, uuidText } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { openSse } from '../support/sse.ts';
import { until } from '../support/until.ts';

const writerCount = 8;
const transactionsPerWriter = 25;
const sequencerCount = 3;
const ways = ['poll', 'stream', 'consumer'] as const;
const esimCount = 5;
const seed = randomInt(1, 1_000_000);

type Account = { accountUuid: string; key: string };
/** Reads the events of all accounts. */
let operator: Account;
/** `number` counts the events of one eSIM, under a lock on its row. */
type Written = { id: string; iccid: string | null; number: number };

let service: TestService;
let accounts: Account[];
let admin: pg.Pool;

beforeAll(async () => {
  service = await startService();
  accounts = [service, await service.createAccount('Second'), await service.createAccount('Third')];
  operator = { accountUuid: deployment.uuid, key: await service.createKey({ scopes: ['operator'] }) };
  admin = new pg.Pool({ connectionString: service.databaseUrl, max: writerCount + 3 });
  await admin.query('create table esim_counters (iccid text primary key, number integer not null)');
  await admin.query(`insert into esim_counters select 'iccid-' || n, 0 from generate_series(0, $1) n`, [
    esimCount * accounts.length - 1,
  ]);
});
afterAll(async () => {
  await admin.end();
  await service.stop();
});

test('whatever order writers commit in, and whichever sequencer dies, every reader sees every event once, in one order', async () => {
  const random = createRandom(seed, 'sequencers');
  const sequencers = Array.from({ length: sequencerCount }, startOne);
  const reading = [...accounts, operator];
  const following = reading.flatMap((account) => ways.map((way) => follow(account, way)));
  const slow = await admin.connect();
  try {
    await slow.query('begin');
    const held = (await write(slow, accounts[0] as Account, null)).id;

    const writing = Array.from({ length: writerCount }, (_, index) => writeSome(index));
    let isWriting = true;
    const killing = killSequencers(random, () => isWriting);
    const written = (await Promise.all(writing)).flat();
    isWriting = false;
    expect(await killing, `seed ${seed}`).toBeGreaterThan(0);

    // A writer that stays open holds up nobody else.
    for (const reader of following) await reader.hasSeen(expectedOf(written, reader.account).length);
    await slow.query('commit');
    const all = [
      ...written,
      { account: accounts[0] as Account, event: { id: held, iccid: null, number: 0 } },
    ];
    for (const reader of following) await reader.hasSeen(expectedOf(all, reader.account).length);

    for (const account of reading) {
      const expected = expectedOf(all, account);
      const [first, ...others] = following.filter((reader) => reader.account === account);
      const order = first?.seen.map(({ id }) => id) ?? [];
      expect([...order].sort(), `seed ${seed}`).toEqual(expected.map(({ id }) => id).sort());
      for (const other of others)
        expect(
          other.seen.map(({ id }) => id),
          `seed ${seed}`,
        ).toEqual(order);
      expect(await positionsOf(account), `seed ${seed}`).toEqual(order.map((_, index) => index + 1));
      expectOrderedByEsim(first?.seen ?? []);
    }
    // The deployment's order is that of each account.
    const ofAll = following.find((reader) => reader.account === operator)?.seen ?? [];
    for (const account of accounts) {
      const ids = new Set(expectedOf(all, account).map(({ id }) => id));
      const own = following.find((reader) => reader.account === account)?.seen ?? [];
      expect(ofAll.filter(({ id }) => ids.has(id)).map(({ id }) => id)).toEqual(own.map(({ id }) => id));
    }
    expect(following[0]?.seen.at(-1)?.id).toBe(held);
  } finally {
    slow.release();
    await Promise.all(following.map((reader) => reader.stop()));
    await Promise.all(sequencers.map((sequencer) => sequencer.stop()));
  }
});

/** With a connection of its own, as every worker process has. */
function startOne(): { stop(): Promise<void> } {
  const db = openDatabase({ connectionString: service.databaseUrl, poolSize: 1, onError: () => {} });
  const sequencer = service.startSequencer({ db, pollMs: 10, onError: () => {} });
  return {
    async stop() {
      await sequencer.stop();
      await db.end();
    },
  };
}

/** Kills the connection of a random sequencer, also in the middle of a pass, and returns how many. */
async function killSequencers(random: Random, isWanted: () => boolean): Promise<number> {
  let killed = 0;
  while (isWanted()) {
    const { rowCount } = await admin.query(`
      select pg_terminate_backend(pid)
      from (
        select pid
        from pg_stat_activity
        where datname = current_database() and application_name like 'simplane%'
          and query like '%delete from unsequenced_events%'
        order by state = 'active' desc, random()
        limit 1) one`);
    killed += rowCount ?? 0;
    await sleep(random.below(60));
  }
  return killed;
}

type ByAccount = { account: Account; event: Written };

/** Transactions of one to four events of one account or several, with pauses in between; one of eight is rolled back. */
async function writeSome(index: number): Promise<ByAccount[]> {
  const random = createRandom(seed, `writer ${index}`);
  const committed: ByAccount[] = [];
  const client = await admin.connect();
  try {
    for (let turn = 0; turn < transactionsPerWriter; turn++) {
      const events: ByAccount[] = [];
      // One eSIM per transaction at most: the locks of two could be taken in different orders.
      let mayLock = true;
      await client.query('begin');
      for (let count = 1 + random.below(4); count > 0; count--) {
        const account = random.pick(accounts);
        const isOfEsim = mayLock && random.chance(0.5);
        if (isOfEsim) mayLock = false;
        const number = accounts.indexOf(account) * esimCount + random.below(esimCount);
        events.push({ account, event: await write(client, account, isOfEsim ? `iccid-${number}` : null) });
        if (random.chance(0.4)) await sleep(random.below(25));
      }
      const isRolledBack = random.chance(1 / 8);
      await client.query(isRolledBack ? 'rollback' : 'commit');
      if (!isRolledBack) committed.push(...events);
    }
  } finally {
    client.release();
  }
  return committed;
}

async function write(client: pg.PoolClient, account: Account, iccid: string | null): Promise<Written> {
  const lock = 'update esim_counters set number = number + 1 where iccid = $1 returning number';
  const number = iccid === null ? 0 : (await client.query<{ number: number }>(lock, [iccid])).rows[0]?.number;
  const uuid = uuidText(service.service.newUuid());
  const written = { id: idOfUuid(idPrefixes.event, uuid), iccid, number: number ?? 0 };
  await client.query(
    'insert into events (account_id, id, type, created_at, body) values ($1, $2, $3, now(), $4)',
    [account.accountUuid, uuid, 'test.written', JSON.stringify(written)],
  );
  return written;
}

function expectedOf(written: ByAccount[], account: Account): Written[] {
  return written.filter((one) => account === operator || one.account === account).map(({ event }) => event);
}

const baseOf = (account: Account) => (account === operator ? '/v1/operator' : '/v1');

type NextPage = () => Promise<Written[]>;

async function get(account: Account, query: string) {
  const { status, json, text } = await call(
    { ...service, key: account.key },
    'GET',
    `${baseOf(account)}/events/feed?${query}`,
  );
  if (status !== 200) throw new Error(`${status} ${text}`);
  return json as { data: Written[]; cursor: string };
}

/** The ways to read the feed, each in pages of random sizes. */
const readers: Record<(typeof ways)[number], (account: Account, random: Random) => NextPage> = {
  poll(account, random) {
    let after = 'start';
    return async () => {
      const { data, cursor } = await get(account, `after=${after}&limit=${1 + random.below(30)}&wait=1`);
      after = cursor;
      return data;
    };
  },
  /** Leaves after some events and resumes after the last one. */
  stream(account, random) {
    let after = 'start';
    return async () => {
      const path = `${baseOf(account)}/events/feed?after=${after}`;
      const stream = await openSse({ ...service, key: account.key }, path);
      const enough = 1 + random.below(30);
      for (let turn = 0; turn < 20 && stream.messages.length < enough; turn++) await sleep(20);
      const messages = [...stream.messages];
      stream.close();
      after = messages.at(-1)?.id ?? after;
      return messages.map(({ data }) => JSON.parse(data));
    };
  },
  consumer(account, random) {
    const target = { ...service, key: account.key };
    const consumer = `${baseOf(account)}/event_consumers/reader`;
    let isCreated = false;
    return async () => {
      if (!isCreated) await call(target, 'PUT', consumer, { body: { after: 'start' } });
      isCreated = true;
      const { data, cursor } = await get(account, `consumer=reader&limit=${1 + random.below(30)}&wait=1`);
      const { status } = await call(target, 'POST', `${consumer}/ack`, { body: { cursor } });
      if (status !== 200) throw new Error(`acknowledged with ${status}`);
      return data;
    };
  },
};

function follow(account: Account, way: (typeof ways)[number]) {
  const next = readers[way](account, createRandom(seed, `${account.key} ${way}`));
  const seen: Written[] = [];
  let isStopped = false;

  async function run(): Promise<void> {
    while (!isStopped) seen.push(...(await next()));
  }

  const running = run();
  return {
    account,
    seen,
    hasSeen: (count: number) =>
      Promise.race([
        running,
        until(
          async () => seen.length,
          (length) => length >= count,
        ),
      ]),
    async stop() {
      isStopped = true;
      await running;
    },
  };
}

async function positionsOf({ accountUuid }: Account): Promise<number[]> {
  const { rows } = await admin.query<{ position: number }>(
    `select (first_position + number - 1)::integer as position
     from event_feed, unnest(event_ids) with ordinality as one (event_id, number)
     where account_id = $1
     order by position`,
    [accountUuid],
  );
  return rows.map(({ position }) => position);
}

/** Rolled back numbers are drawn again, so those of an eSIM are dense. */
function expectOrderedByEsim(seen: Written[]): void {
  const last = new Map<string, number>();
  for (const { iccid, number } of seen) {
    if (iccid === null) continue;
    expect(number, `seed ${seed}: ${iccid}`).toBe((last.get(iccid) ?? 0) + 1);
    last.set(iccid, number);
  }
}
