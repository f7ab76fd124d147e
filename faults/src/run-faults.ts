import { setTimeout as sleep } from 'node:timers/promises';
import { type ServerProcess, thisRelease } from './deployment/processes.ts';
import type { NetworkCall } from './history/history.ts';
import { note } from './history/note.ts';
import { describeFault, type Fault, type FaultKind } from './plan.ts';
import type { RunContext } from './run-context.ts';
import { until } from './until.ts';

// Below the database client's own query timeout, so held-up statements still arrive.
const maxFaultMs = 12_000;

/** Runs the planned faults one after another, each after its number of customer operations. */
export async function runFaults(ctx: RunContext, isOver: () => boolean): Promise<void> {
  for (const fault of ctx.plan.faults) {
    await until(() => ctx.progress.operations >= fault.after || isOver(), Number.POSITIVE_INFINITY);
    if (isOver()) return;
    ctx.progress.faults += 1;
    note(ctx.history, `fault: ${describeFault(fault)}`);
    await faults[fault.kind](ctx, fault, isOver);
    // A race that ended early may have left one held, and a process that is restarted next could not start.
    for (const link of ctx.deployment.links.values()) link.release();
    note(ctx.history, `ended: ${describeFault(fault)}`);
  }
}

type RunFault = (ctx: RunContext, fault: Fault, isOver: () => boolean) => Promise<void>;

const faults: Record<FaultKind, RunFault> = {
  async kill(ctx, fault, isOver) {
    const server = processOf(ctx, fault);
    await server.kill();
    await moreOperations(ctx, fault, isOver);
    await server.start();
  },
  async freeze(ctx, fault, isOver) {
    const server = processOf(ctx, fault);
    server.freeze();
    if (server.role === 'worker') await leasesExpired(ctx);
    else await moreOperations(ctx, fault, isOver);
    server.thaw();
  },
  async 'hold-link'(ctx, fault, isOver) {
    const link = ctx.deployment.links.get(fault.process);
    link?.hold();
    if (fault.process.startsWith('worker')) await leasesExpired(ctx);
    else await moreOperations(ctx, fault, isOver);
    link?.release();
  },
  async 'clock-jump'(ctx, fault, isOver) {
    const server = processOf(ctx, fault);
    const says = (isWrong: boolean) => async () => {
      const answer = await fetch(`${server.url()}/readyz`).then(
        (reply) => reply.text(),
        () => '',
      );
      return answer.includes('"status"') && answer.includes('"what":"clock"') === isWrong;
    };
    server.shiftClock(fault.jumpMs);
    await until(says(true), maxFaultMs);
    await moreOperations(ctx, fault, isOver);
    server.shiftClock(0);
    await until(says(false), maxFaultMs);
  },
  async upgrade(ctx, fault, isOver) {
    await processOf(ctx, fault).replace(thisRelease);
    await moreOperations(ctx, fault, isOver);
  },
  async downgrade(ctx, fault, isOver) {
    await processOf(ctx, fault).replace(ctx.deployment.firstRelease);
    await moreOperations(ctx, fault, isOver);
  },
  overtake: (ctx, { step }, isOver) => overtake(ctx, step, isOver),
  'race-heir': (ctx, { step }, isOver) => raceHeir(ctx, step, isOver),
  async 'cut-link'(ctx, { process }) {
    ctx.deployment.links.get(process)?.cut();
  },
  async 'end-sessions'(ctx) {
    const { postgres, database } = ctx.deployment;
    await postgres.query(
      'postgres',
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = $1 and application_name like 'simplane%'`,
      [database],
    );
  },
  'restart-postgres': (ctx) => restart(ctx, 'fast'),
  'crash-postgres': (ctx) => restart(ctx, 'immediate'),
  async 'fail-over'({ deployment: { postgres } }) {
    const pair = postgres.pair();
    await pair.stopPrimary('kill');
    await sleep(outageMs);
    await pair.promote();
    await pair.rejoin();
  },
  async 'switch-over'(ctx, fault, isOver) {
    const pair = ctx.deployment.postgres.pair();
    const fromMs = Date.now();
    await pair.switchOver();
    await moreOperations(ctx, fault, isOver);
    await pair.rejoin();
    ctx.history.staleReads.push({ fromMs, toMs: Date.now() });
  },
  async 'lose-standby'(ctx) {
    const { postgres } = ctx.deployment;
    await postgres.pair().stopStandby();
    await until(async () => (await waitingCommits(ctx)) > 0, maxFaultMs);
    await sleep(longerThanLeasesMs);
    await postgres.pair().startStandby();
  },
};

// How long commits hang: clients retry at another process after 2 s, and a worker's lease ends after 1.5 s.
const longerThanLeasesMs = 2_500;

async function waitingCommits({ deployment: { postgres } }: RunContext): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    'postgres',
    `select count(*)::int as count from pg_stat_activity where wait_event = 'SyncRep'`,
  );
  return row?.count ?? 0;
}

/**
 * Holds the link of the worker that makes the next call of this step, until another worker has taken over and finished the
 * execution. Then the first worker's writes arrive, too late.
 */
async function overtake(ctx: RunContext, step: string, isOver: () => boolean): Promise<void> {
  const { network, links } = ctx.deployment;
  const caught: NetworkCall[] = [];
  network.onNextCall(step, (call) => {
    links.get(call.worker)?.hold();
    caught.push(call);
  });
  await until(() => caught.length > 0 || isOver(), maxFaultMs);
  network.onNextCall(step, null);
  const [call] = caught;
  if (!call) return;
  const { executionId, worker } = call;
  await until(() => hasEnded(ctx, call), maxFaultMs);
  note(ctx.history, `${worker} was overtaken during ${step} of ${executionId}`);
  links.get(worker)?.release();
}

/**
 * Two workers hold one order. The network refuses the first, and its link is held until a second worker has taken over and got a
 * good answer. Then the second's link is held, so the first one's writes arrive while the second still runs. If those writes
 * counted, the first would cancel the profile; its link is then held again until the second has delivered it.
 */
async function raceHeir(ctx: RunContext, step: string, isOver: () => boolean): Promise<void> {
  const { network, links } = ctx.deployment;
  const calls: NetworkCall[] = [];
  const catchCall = (call: NetworkCall) => {
    const [first] = calls;
    if (first && call.id === first.id && call.worker !== first.worker) calls.push(call);
    else if (!first) calls.push(call);
    else return network.onNextCall(step, catchCall);
    links.get(call.worker)?.hold();
    if (first) return;
    call.answer = 'refused';
    network.onNextCall(step, catchCall);
  };
  network.onNextCall(step, catchCall);
  await until(() => calls.length > 0 || isOver(), 2 * maxFaultMs);
  // A busy machine may take long to notice that the first worker's lease has ended.
  if (calls.length > 0) await until(() => calls.length === 2 || isOver(), 3 * maxFaultMs);
  network.onNextCall(step, null);
  const [first, heir] = calls;
  if (!first) return;
  if (!heir) return links.get(first.worker)?.release();

  let isCanceled = false;
  const catchCancel = (call: NetworkCall) => {
    isCanceled = call.iccid === first.iccid;
    if (isCanceled) links.get(call.worker)?.hold();
    else network.onNextCall('cancel', catchCancel);
  };
  network.onNextCall('cancel', catchCancel);
  links.get(first.worker)?.release();
  await until(async () => isCanceled || (await hasEnded(ctx, first)), maxFaultMs);
  note(ctx.history, `${first.worker} raced ${heir.worker} during ${step} of ${first.executionId}`);
  links.get(heir.worker)?.release();
  await until(() => hasEnded(ctx, first), maxFaultMs);
  network.onNextCall('cancel', null);
  links.get(first.worker)?.release();
}

/** Waits until no execution that is running now is still held by the same claim. */
async function leasesExpired(ctx: RunContext): Promise<void> {
  const before = await openExecutions(ctx);
  await until(async () => {
    const now = await openExecutions(ctx);
    const held = new Set(now.map(({ id, fence }) => `${id} ${fence}`));
    return !before.some(({ id, fence, isLeased }) => isLeased && held.has(`${id} ${fence}`));
  }, maxFaultMs);
}

/** Whether the execution that made this call is settled. */
async function hasEnded(ctx: RunContext, { id }: NetworkCall): Promise<boolean> {
  const [uuid] = id.split('.');
  return !(await openExecutions(ctx)).some((one) => one.id === uuid);
}

type Open = { id: string; fence: number; isLeased: boolean };

async function openExecutions({ deployment }: RunContext): Promise<Open[]> {
  const { postgres, database } = deployment;
  return postgres.query<Open>(
    database,
    'select id, fence, leased_until is not null as "isLeased" from execution_queue',
  );
}

async function moreOperations(ctx: RunContext, { lasts }: Fault, isOver: () => boolean): Promise<void> {
  const enough = ctx.progress.operations + lasts;
  await until(() => ctx.progress.operations >= enough || isOver(), maxFaultMs);
}

// Long enough for every process to notice that PostgreSQL is down.
const outageMs = 200;

async function restart({ deployment: { postgres } }: RunContext, how: 'fast' | 'immediate'): Promise<void> {
  await postgres.stop(how);
  await sleep(outageMs);
  await postgres.start();
}

function processOf({ deployment }: RunContext, { process }: Fault): ServerProcess {
  const found = deployment.processes.find(({ name }) => name === process);
  if (!found) throw new Error(`unknown process ${process}`);
  return found;
}
