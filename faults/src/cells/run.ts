import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisRelease } from '../deployment/processes.ts';
import { createRandom } from '../random.ts';
import { until } from '../until.ts';
import { type Cell, startCell } from './cell.ts';
import { type Customer, startCustomer } from './customer.ts';
import { documentedSections, startRouter } from './router.ts';

/**
 * `npm run cells [rounds] [seed]`: two cells behind a real HAProxy with the configuration of docs/cells.md. A customer is moved to and
 * fro while it and another one work; the move, a server and a PostgreSQL are killed in each round. Then everything must add up.
 */
const rounds = Number(process.argv[2] ?? 4);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = createRandom(seed, 'cells');
const say = (text: string) => void process.stdout.write(`${text}\n`);
say(`${rounds} rounds, seed ${seed}`);

const cells = [await startCell('first', null), await startCell('eu', 'eu')] as const;
const router = await startRouter(
  `defaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n\n${await documentedSections()}`,
  'eu eu\n',
  Object.fromEntries(cells.map(({ name, port }) => [name, port])),
);
const [moved, other] = [await startCustomer(cells[0], router.url), await startCustomer(cells[0], router.url)];
let home: Cell = cells[0];
for (let round = 1; round <= rounds; round++) {
  const target = home === cells[0] ? cells[1] : cells[0];
  const kills = await moveWithKills(home, target);
  home = target;
  say(
    `round ${round}: in ${home.name} after ${kills} killed moves; ${moved.orders.size + other.orders.size} orders`,
  );
}
await Promise.all([moved.stop(), other.stop()]);
const faults = [...(await check(moved, home)), ...(await check(other, cells[0])), ...(await checkIccids())];
for (const fault of faults) say(`violated: ${fault}`);
say(
  faults.length === 0
    ? `${moved.orders.size + other.orders.size} orders, ${moved.read.length + other.read.length} events: all hold`
    : `repeat with: npm run cells ${rounds} ${seed}`,
);
await router.stop();
await Promise.all(cells.map((cell) => cell.stop()));
process.exit(faults.length === 0 ? 0 : 1);

/** Returns how often the move was killed. */
async function moveWithKills(from: Cell, to: Cell): Promise<number> {
  const victims = [
    () => from.killServer(),
    () => to.killServer(),
    () => from.killPostgres(),
    () => to.killPostgres(),
  ];
  const fault = sleep(500 + random.below(3_500)).then(random.pick(victims));
  let kills = 0;
  for (;;) {
    const command = spawn(
      process.execPath,
      [thisRelease.server, 'accounts', 'move', moved.account, '--to', to.env['DATABASE_URL'] as string],
      { env: from.env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let [lines, says] = ['', ''];
    command.stdout.on('data', (chunk) => {
      lines += chunk;
    });
    command.stderr.on('data', (chunk) => {
      says += chunk;
    });
    const isKilled = kills < 2;
    const timer = isKilled ? setTimeout(() => command.kill('SIGKILL'), 500 + random.below(8_500)) : null;
    const [code] = (await once(command, 'close')) as [number | null];
    if (timer) clearTimeout(timer);
    if (code === 0) {
      await fault;
      await router.learn(lines);
      return kills;
    }
    if (code === null) kills += 1;
    else say(`  the move ended: ${says.trim().split('\n').at(-1)}`);
    await sleep(500);
  }
}

/** What is wrong with the customer's orders and feed, if it belongs to this cell. */
async function check(customer: Customer, cell: Cell): Promise<string[]> {
  const { orders, accountUuid, account } = customer;
  const inCell = (one: Cell, what: string) =>
    one
      .query<{ count: number }>(`select count(*)::integer as count from ${what} where account_id = $1`, [
        accountUuid,
      ])
      .then(([row]) => row?.count ?? 0);
  await until(async () => (await inCell(cell, 'execution_queue')) === 0, 120_000);
  const whole = await customer.readAll();
  const rest = cells.find((one) => one !== cell) as Cell;
  const facts: [boolean, string][] = [
    [[...orders.values()].every((ids) => ids.size === 1), 'an idempotency key has two orders'],
    [
      (await inCell(cell, 'executions')) === orders.size,
      `${await inCell(cell, 'executions')} orders for ${orders.size} keys`,
    ],
    [(await inCell(rest, 'esims')) === 0, 'the other cell has eSIMs of it'],
    [(await inCell(rest, 'execution_queue')) === 0, 'the other cell has orders of it'],
    [new Set(customer.read).size === customer.read.length, 'an event was read twice'],
    [
      JSON.stringify(customer.read) === JSON.stringify(whole),
      `${customer.read.length} events read one after another, ${whole.length} from the start`,
    ],
  ];
  return facts.filter(([holds]) => !holds).map(([, text]) => `${account}: ${text}`);
}

async function checkIccids(): Promise<string[]> {
  const [here, there] = await Promise.all(
    cells.map((cell) => cell.query<{ iccid: string }>('select iccid from esims')),
  );
  const known = new Set(here?.map(({ iccid }) => iccid));
  return there?.some(({ iccid }) => known.has(iccid)) ? ['an ICCID is in both cells'] : [];
}
