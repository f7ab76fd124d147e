import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from './deployment/processes.ts';
import type { NetworkCall } from './history/history.ts';
import { note } from './history/note.ts';
import { describeFault, type Fault, type FaultKind } from './plan.ts';
import { until } from './until.ts';
import type { World } from './world.ts';

// Below the bound that a connection's own client sets for an answer, so that what is held up still counts.
const longestMs = 12_000;

/** Faults one after the other, as planned, each when customers have come far enough. Ends with the last of them. */
export async function inflictFaults(world: World, isOver: () => boolean): Promise<void> {
  for (const fault of world.plan.faults) {
    await until(() => world.progress.ended >= fault.after || isOver(), Number.POSITIVE_INFINITY);
    if (isOver()) return;
    world.progress.begun += 1;
    note(world.history, `fault: ${describeFault(fault)}`);
    await faults[fault.kind](world, fault, isOver);
    note(world.history, `over: ${describeFault(fault)}`);
  }
}

type Inflict = (world: World, fault: Fault, isOver: () => boolean) => Promise<void>;

const faults: Record<FaultKind, Inflict> = {
  async kill(world, fault, isOver) {
    const server = processOf(world, fault);
    await server.kill();
    await moreOperations(world, fault, isOver);
    await server.start();
  },
  async freeze(world, fault, isOver) {
    const server = processOf(world, fault);
    server.freeze();
    if (server.role === 'worker') await leasesPassed(world);
    else await moreOperations(world, fault, isOver);
    server.thaw();
  },
  async 'hold-link'(world, fault, isOver) {
    const link = world.deployment.links.get(fault.process);
    link?.hold();
    if (fault.process.startsWith('worker')) await leasesPassed(world);
    else await moreOperations(world, fault, isOver);
    link?.release();
  },
  overtake: (world, { step }, isOver) => overtake(world, step, isOver),
  async 'cut-link'(world, { process }) {
    world.deployment.links.get(process)?.cut();
  },
  async 'end-sessions'(world) {
    const { postgres, database } = world.deployment;
    await postgres.query(
      'postgres',
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and application_name like 'simplane%'`,
      [database],
    );
  },
  'restart-postgres': (world) => restart(world, 'fast'),
  'crash-postgres': (world) => restart(world, 'immediate'),
  async 'fail-over'({ deployment: { postgres } }) {
    const pair = postgres.pair();
    await pair.stopPrimary('kill');
    await sleep(noticedMs);
    await pair.promote();
    await pair.rejoin();
  },
  async 'switch-over'(world, fault, isOver) {
    const pair = world.deployment.postgres.pair();
    const fromMs = Date.now();
    await pair.switchOver();
    await moreOperations(world, fault, isOver);
    await pair.rejoin();
    world.history.staleReads.push({ fromMs, toMs: Date.now() });
  },
  async 'lose-standby'(world) {
    const { postgres } = world.deployment;
    await postgres.pair().stopStandby();
    await until(async () => (await waitingCommits(world)) > 0, longestMs);
    await sleep(longerThanLeasesMs);
    await postgres.pair().startStandby();
  },
};

// Commits hang for so long: customers ask elsewhere after 2 s, and what a worker had in hand comes due after 1.5 s.
const longerThanLeasesMs = 2_500;

async function waitingCommits({ deployment: { postgres } }: World): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    'postgres',
    `select count(*)::int as count from pg_stat_activity where wait_event = 'SyncRep'`,
  );
  return row?.count ?? 0;
}

/**
 * The worker that makes the next call of this step gets its answer and can tell nobody: its link is held until another
 * worker has taken the execution over and settled it. Then all that it has written arrives, too late.
 */
async function overtake(world: World, step: string, isOver: () => boolean): Promise<void> {
  const { network, links } = world.deployment;
  const caught: NetworkCall[] = [];
  network.catchNext(step, (call) => {
    links.get(call.worker)?.hold();
    caught.push(call);
  });
  await until(() => caught.length > 0 || isOver(), longestMs);
  network.catchNext(step, null);
  const [call] = caught;
  if (!call) return;
  const { executionId, worker, id } = call;
  const uuid = id.split('.')[0];
  await until(async () => {
    const open = await openExecutions(world);
    return !open.some((one) => one.id === uuid);
  }, longestMs);
  note(world.history, `${worker} was overtaken during ${step} of ${executionId}`);
  links.get(worker)?.release();
}

/** Until nothing that was in work when this began is still held by the same claim. */
async function leasesPassed(world: World): Promise<void> {
  const before = await openExecutions(world);
  await until(async () => {
    const now = await openExecutions(world);
    const held = new Set(now.map(({ id, fence }) => `${id} ${fence}`));
    return !before.some(({ id, fence, status }) => status === 'running' && held.has(`${id} ${fence}`));
  }, longestMs);
}

type Open = { id: string; fence: number; status: string };

async function openExecutions({ deployment }: World): Promise<Open[]> {
  const { postgres, database } = deployment;
  return postgres.query<Open>(
    database,
    `select id, fence, status from executions where status in ('queued', 'running')`,
  );
}

async function moreOperations(world: World, { lasts }: Fault, isOver: () => boolean): Promise<void> {
  const enough = world.progress.ended + lasts;
  await until(() => world.progress.ended >= enough || isOver(), longestMs);
}

// Long enough for everyone to notice that PostgreSQL is gone.
const noticedMs = 200;

async function restart({ deployment: { postgres } }: World, how: 'fast' | 'immediate'): Promise<void> {
  await postgres.stop(how);
  await sleep(noticedMs);
  await postgres.start();
}

function processOf({ deployment }: World, { process }: Fault): ServerProcess {
  const found = deployment.processes.find(({ name }) => name === process);
  if (!found) throw new Error(`no process is called ${process}`);
  return found;
}
