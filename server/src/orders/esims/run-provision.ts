import type { CoreMode } from '../../network/core-mode.ts';
import type { Reply } from '../../network/port.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import { createGroupCommit, type GroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { uuidText } from '../../platform/ids/uuid.ts';
import {
  confirmationCodePlace,
  esimMatchingIdPlace,
  orderMatchingIdPlace,
} from '../../platform/secrets/sealed-places.ts';
import {
  callId,
  type Deps,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Runner,
  type RunOutcome,
} from '../executions/runner.ts';
import { allot, cacheMatchingId, isAllotted, noteChoices, readMatchingId } from './allot.ts';
import { orderIds, referenceOf } from './end-failed-order.ts';
import type { IccidSource } from './iccid.ts';
import { mayBeReserved, type OrderInput, type Progress } from './reservation.ts';
import { failAfterLastAttempt, rollBackAndFail } from './roll-back-provision.ts';
import {
  type FirstBundle,
  type Provisioned,
  type Settled,
  settleProvisionedRows,
  storeOrdered,
} from './sql/orders.ts';

const done: RunOutcome = { kind: 'done' };

/** Provisions an eSIM: orders, confirms and releases a profile, then settles. For the rollback see roll-back-provision.ts. */
export function createProvisionRunner(iccids: IccidSource, firstBundle: FirstBundle, core: CoreMode): Runner {
  // Concurrent orders share one statement and one commit.
  const settlerOf: SettlerOf = perDatabase((db) =>
    createGroupCommit({
      write: (rows: Provisioned[]) => settleProvisionedRows(db, rows, { firstBundle, core }),
    }),
  );
  return {
    isPausable: true,
    // If the network forgets calls, a matching id is stored before the first call as well: that takes another statement.
    stock: ({ network }) => (network.iccids === 'ours' && !network.forgetsCalls ? iccids.stock : null),
    prepare: (deps, executions) => allot(deps, executions, iccids),
    run: (deps, execution) => provision(deps, execution, settlerOf, iccids.giveBack),
    fail: (deps, execution, error) => failAfterLastAttempt(deps, execution, error, iccids.giveBack),
  };
}

type SettlerOf = (db: Deps['db']) => GroupCommit<Provisioned, Settled>;

async function provision(
  deps: Deps,
  execution: HeldExecution,
  settlerOf: SettlerOf,
  giveBack: IccidSource['giveBack'],
): Promise<RunOutcome> {
  const { verdict } = execution.progress as Progress;
  if (!isAllotted(deps.network, execution)) return rollBackAndFail(deps, execution, noIccidsLeft);
  if (verdict) return rollBackAndFail(deps, execution, verdict);
  if (execution.is_terminated) return rollBackAndFail(deps, execution, terminatedMeanwhile);
  const ordered = await order(deps, execution, giveBack);
  if (ordered.kind !== 'ordered') return ordered;
  const ready = await confirmAndRelease(deps, execution, ordered.iccid);
  if (ready.kind !== 'ready') return ready;
  const row = toSettle(deps, execution, ready);
  const settled = await settlerOf(deps.db)(row).catch(unlessIccidTaken);
  if (settled === 'taken')
    return rollBackAndFail(deps, execution, iccidTaken(execution, ready.iccid), { belongsToOther: true });
  const { outcome, ...committed } = settled;
  if (outcome === 'gone') return rollBackAndFail(deps, execution, terminatedMeanwhile);
  if (outcome === 'lost') return done;
  deps.onOutcome(execution.type, 'succeeded');
  deps.handOver.announce({ ...committed, event: row.event, isTest: false });
  return { kind: 'done', isAnnounced: true };
}

/** A profile that a device may download. */
type Ready = {
  kind: 'ready';
  iccid: string;
  matchingId: string;
  smdpAddress: string;
  confirmationCodeRequired: boolean;
};

/** The second step, and the third if the network needs it. */
async function confirmAndRelease(
  deps: Deps,
  execution: HeldExecution,
  iccid: string,
): Promise<RunOutcome | Ready> {
  const { account_id, id } = execution;
  const reserved = (await readMatchingId(deps, execution)) as string;
  const sealedCode = (execution.input as OrderInput).sealed_confirmation_code;
  const confirmationCode =
    sealedCode === undefined
      ? null
      : await deps.keyring.open(sealedCode, confirmationCodePlace(account_id, id));
  const confirmed = await execution.call('confirm', (call) =>
    deps.network.confirm({
      iccid,
      matchingId: reserved,
      confirmationCode,
      ...call,
      ...profileRequest(execution),
    }),
  );
  if (confirmed.kind !== 'done') return retryOrRollBack(deps, execution, unlessAdopted(execution, confirmed));
  const { matchingId, smdpAddress, confirmationCodeRequired, isReleased } = confirmed.result;
  // Sealed again only if the network chose another matching id.
  const bound: Progress = {
    is_confirmed: true,
    ...(matchingId !== reserved && {
      matching_id: deps.keyring.seal(matchingId, orderMatchingIdPlace(account_id, id)),
    }),
  };
  execution.noteProgress(bound);
  cacheMatchingId(execution, matchingId);
  if (!isReleased) {
    if (!(await execution.checkpoint(bound))) return done;
    const released = await execution.call('release', (call) =>
      deps.network.release({ iccid, matchingId, ...call }),
    );
    if (released.kind !== 'done') return retryOrRollBack(deps, execution, released);
  }
  return { kind: 'ready', iccid, matchingId, smdpAddress, confirmationCodeRequired };
}

function toSettle(deps: Deps, execution: HeldExecution, { iccid, matchingId, ...ready }: Ready): Provisioned {
  const { account_id, id, fence } = execution;
  return {
    account_id,
    id,
    fence,
    iccid,
    smdpAddress: ready.smdpAddress,
    sealedMatchingId: deps.keyring.seal(matchingId, esimMatchingIdPlace(account_id, iccid)),
    confirmationCodeRequired: ready.confirmationCodeRequired,
    bundleUuid: uuidText(deps.newUuid()),
    at: new Date(deps.clock.nowMs()),
    event: newEvent(deps, {
      accountUuid: account_id,
      type: 'esim.provisioned',
      data: { iccid, ...orderIds(execution) },
      reference: referenceOf(execution),
    }),
  };
}

/** ICCIDs are unique in the queue, but an existing eSIM may have this one. That shows only here, and a retry would not help. */
function unlessIccidTaken(error: { code?: string; constraint?: string }): 'taken' {
  if (error.code === '23505' && error.constraint === 'esims_iccid_key') return 'taken';
  throw error;
}

function profileRequest({ product_id: productId, profile_type: current, progress, input }: HeldExecution) {
  const { profile_type: profileType = current } = progress as Progress;
  return { productId, profileType, eid: (input as OrderInput).eid ?? null };
}

/** The first step. Its result is a checkpoint. */
async function order(
  deps: Deps,
  execution: HeldExecution,
  giveBack: IccidSource['giveBack'],
): Promise<RunOutcome | { kind: 'ordered'; iccid: string }> {
  const progress: Progress & Record<string, unknown> = execution.progress;
  if (progress.is_ordered && execution.iccid !== null) return { kind: 'ordered', iccid: execution.iccid };
  const reply = await execution.call('order', (call) =>
    deps.network.order({ iccid: execution.iccid, ...call, ...profileRequest(execution) }),
  );
  if (reply.kind !== 'done') {
    if (reply.kind === 'refused' && reply.reservedIccid !== undefined) {
      return cancelUnusable(deps, execution, reply.reservedIccid, errorOf(reply.reason));
    }
    if (reply.kind === 'refused' && reply.leavesIccid && giveBack && !mayBeReserved(progress)) {
      const returns = { giveBack, state: reply.leavesIccid };
      return rollBackAndFail(deps, execution, errorOf(reply.reason), { returns });
    }
    // Every call with this id gets this answer, so no earlier one has reserved a profile.
    if (reply.kind === 'refused' && !deps.network.forgetsCalls) progress.is_closed = true;
    return retryOrRollBack(deps, execution, reply);
  }
  const { iccid, isInferred } = reply.result;
  const reached: Progress = { is_ordered: true, ...(!isInferred && { is_reserved: true }) };
  const stored = await storeOrder(deps, execution, iccid, reached);
  if (stored === 'taken') return rollBackAndFail(deps, execution, iccidTaken(execution, iccid));
  return stored === 'lost' ? done : { kind: 'ordered', iccid };
}

/** The ICCID and the verdict are stored together: an attempt that resumes must not confirm the profile. */
async function cancelUnusable(
  deps: Deps,
  execution: HeldExecution,
  iccid: string,
  verdict: ExecutionError,
): Promise<RunOutcome> {
  const stored = await storeOrder(deps, execution, iccid, { is_ordered: true, is_reserved: true, verdict });
  if (stored === 'lost') return done;
  return rollBackAndFail(deps, execution, stored === 'taken' ? iccidTaken(execution, iccid) : verdict);
}

/** An order that was allotted an ICCID keeps it, even if the ICCID source changed since. */
async function storeOrder({ db }: Deps, execution: HeldExecution, iccid: string, reached: Progress) {
  if (execution.iccid !== null) return (await execution.checkpoint(reached)) ? 'stored' : 'lost';
  const { account_id, id, fence } = execution;
  const stored = await storeOrdered(db, { account_id, id, fence, iccid, progress: reached });
  if (stored === 'stored') {
    execution.iccid = iccid;
    Object.assign(execution.progress, reached);
  }
  return stored;
}

/** After a wrong ICCID of an operator, a rollback would cancel someone else's profile. */
function unlessAdopted<R extends Reply<unknown>>({ progress }: HeldExecution, reply: R): R {
  const isOthers =
    (progress as Progress).is_adopted && reply.kind === 'refused' && reply.reason.code === 'state_conflict';
  return isOthers ? { ...reply, belongsToOther: true } : reply;
}

/** A failure is retried; a refusal is final. */
async function retryOrRollBack(
  deps: Deps,
  execution: HeldExecution,
  reply: Exclude<Reply<unknown>, { kind: 'done' }>,
): Promise<RunOutcome> {
  if (reply.kind === 'failed') {
    noteChoices(deps, execution);
    return reply;
  }
  const { reason, belongsToOther = false } = reply;
  return rollBackAndFail(deps, execution, errorOf(reason), { belongsToOther });
}

const noIccidsLeft: ExecutionError = {
  code: 'out_of_stock',
  message: 'The operator’s ICCID ranges are used up. Order again after the operator has added one.',
  retryable: true,
};

const terminatedMeanwhile: ExecutionError = {
  code: 'state_conflict',
  message: 'The eSIM was terminated while it was being provisioned.',
  retryable: false,
};

/** Nothing is canceled: the profile with this ICCID is the other eSIM's. */
function iccidTaken(execution: HeldExecution, iccid: string): ExecutionError {
  const id = callId(execution, 'order');
  return {
    code: 'outcome_unknown',
    message: `The network answered with the ICCID ${iccid} of another eSIM, so it is unknown which profile it reserved. The operator should look up call ${id} at the network; then the operator can continue the order with its profile, or you order again.`,
    upstream: { iccid, function_call_identifier: id },
    retryable: false,
  };
}
