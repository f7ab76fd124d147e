import { idPrefixes } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import {
  type Deps,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Runner,
  type RunOutcome,
} from '../executions/worker.ts';
import { idOfUuid } from '../ids/uuid.ts';
import type { Call, Done, Reply } from '../network/port.ts';
import { esimMatchingIdPlace, orderMatchingIdPlace } from '../secrets/sealed-places.ts';
import type { HeldEsim } from './hold.ts';
import { wasDownloaded } from './profile-state.ts';
import { isUnconfirmed, mayBeHeld, type Progress } from './reservation.ts';
import { changeStatus, type EsimRow, findEsim, findOrder, lockEsim } from './sql.ts';
import { mayHappen } from './state.ts';

type Change = 'suspend' | 'resume' | 'terminate';

const eventOf = { suspend: 'esim.suspended', resume: 'esim.resumed', terminate: 'esim.terminated' } as const;

/** What else changes in the same transaction, under the eSIM's lock. */
type Follow = (tx: Queryable, esim: HeldEsim, deps: Deps & { executionId: string }) => Promise<void>;

/** Suspend, resume and terminate: one call to the network, then the change with its event. */
export function createChangeRunner(change: Change, follow?: Follow): Runner {
  return {
    async run(deps, execution) {
      const reply = await execution.call(change, (call) => ask(deps, change, call, execution));
      if (reply.kind === 'failed') return { kind: 'failed', reason: reply.reason };
      if (reply.kind === 'refused') await fail(deps, execution, errorOf(reply.reason));
      else await settle(deps, execution, change, follow);
      return done;
    },
    fail,
  };
}

const done: RunOutcome = { kind: 'done' };
const nothingToDo: Reply<Done> = { kind: 'done', result: {} };

async function ask(deps: Deps, change: Change, call: Call, execution: HeldExecution): Promise<Reply<Done>> {
  const { network, db } = deps;
  const iccid = execution.iccid as string;
  if (change !== 'terminate') return network[change]({ ...call, iccid });
  const esim = await findEsim(db, execution.account_id, iccid);
  // What a device has taken no network can take back: there is nothing left to give up.
  if (esim && wasDownloaded(esim.profile_state)) return nothingToDo;
  const isOrdering = esim?.status === 'provisioning' || esim?.status === 'failed';
  const order = isOrdering ? await findOrder(db, esim) : null;
  const progress = order?.progress ?? {};
  // What a failed order does not hold may be anybody's by now.
  if (esim?.status === 'failed' && !mayBeHeld(progress)) return nothingToDo;
  return network.cancel({
    ...call,
    iccid,
    matchingId: esim && (await readMatchingId(deps, esim, order)),
    eid: esim?.eid ?? null,
    isUnconfirmed: isUnconfirmed(progress),
  });
}

/** The eSIM's own. One that was never provisioned has none, and its order tells. */
async function readMatchingId(
  { keyring }: Deps,
  { account_id: accountUuid, iccid, matching_id: own }: EsimRow,
  order: Awaited<ReturnType<typeof findOrder>>,
): Promise<string | null> {
  if (own !== null) return keyring.open(own, esimMatchingIdPlace(accountUuid, iccid));
  const { matching_id: allotted } = (order?.progress ?? {}) as Progress;
  if (!order || allotted === undefined) return null;
  return keyring.open(allotted, orderMatchingIdPlace(accountUuid, order.uuid));
}

function settle(deps: Deps, execution: HeldExecution, change: Change, follow?: Follow): Promise<void> {
  return deps.db.transaction(async (tx) => {
    const before = await lockEsim(tx, execution.iccid as string);
    const isPossible = before !== null && mayHappen(change, before.status);
    const isOurs = await execution.finish(tx, isPossible ? null : overtaken(change, before));
    const after = isOurs && isPossible && (await changeStatus(tx, before.iccid, change));
    if (!after) return;
    const executionId = idOfUuid(idPrefixes.execution, execution.id);
    const data = { iccid: after.iccid, execution_id: executionId, product_id: after.product_id };
    await emit(tx, [newEvent(deps, { accountUuid: after.account_id, type: eventOf[change], data })]);
    await follow?.(tx, after, { ...deps, executionId });
  });
}

async function fail(deps: Deps, execution: HeldExecution, error: ExecutionError): Promise<void> {
  await execution.finish(deps.db, error);
}

function overtaken(change: Change, esim: EsimRow | null): ExecutionError {
  const message = `The eSIM was ${esim?.status ?? 'gone'} by the time the network had answered: ${change} was no longer possible.`;
  return { code: 'state_conflict', message, retryable: false };
}
