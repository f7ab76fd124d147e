import { defaultThresholds, idPrefixes } from '@simplane/contract';
import { createGroupCommit, perDatabase } from '../db/group-commit.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import {
  type ClaimedExecution,
  callId,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Means,
  type Runner,
  type RunOutcome,
  sentMark,
} from '../executions/worker.ts';
import { idOfUuid, uuidText } from '../ids/uuid.ts';
import type { Reply } from '../network/port.ts';
import { UnreadableSecret } from '../secrets/keyring.ts';
import {
  confirmationCodePlace,
  esimMatchingIdPlace,
  orderMatchingIdPlace,
} from '../secrets/sealed-places.ts';
import { newMatchingId } from './activation-code.ts';
import type { AllotIccids } from './iccid.ts';
import { isUnconfirmed, mayBeHeld, type Progress } from './reservation.ts';
import {
  allotRows,
  changeStatus,
  findEsim,
  insertOrderedEsim,
  type Provisioned,
  settleProvisionedRows,
} from './sql.ts';

/** What the order said that the network must know. The code is forgotten when the order has ended. */
type Input = { eid?: string; sealed_confirmation_code?: string };

const done: RunOutcome = { kind: 'done' };

export function createProvisionRunner(allotIccids: AllotIccids): Runner {
  return {
    prepare: (means, executions) => allot(means, executions, allotIccids),
    run: provision,
    giveUp,
  };
}

async function allot(
  means: Means,
  executions: ClaimedExecution[],
  allotIccids: AllotIccids,
): Promise<ClaimedExecution[]> {
  const fresh = executions.filter(({ progress }) => !(progress as Progress).matching_id);
  if (fresh.length === 0) return executions;
  const isOurs = means.network.iccids === 'ours';
  const iccids = isOurs ? await allotIccids(means.db, fresh.length) : [];
  const at = new Date(means.clock.nowMs());
  // Those for which no number is left go on without an allotment, and fail where they are run.
  const allotments = fresh
    .slice(0, isOurs ? iccids.length : fresh.length)
    .map(({ account_id, id, fence }, index) => ({
      account_id,
      id,
      fence,
      esimUuid: uuidText(means.newUuid()),
      iccid: iccids[index] ?? null,
      ...newSealedMatchingId(means, account_id, id),
      at,
    }));
  const progress = new Map((await allotRows(means.db, allotments)).map((row) => [row.id, row.progress]));
  // What another worker took over meanwhile has numbers of its own: with ours it must not reach the network.
  const lost = new Set(allotments.map(({ id }) => id).filter((id) => !progress.has(id)));
  for (const { id, iccid, matchingId } of allotments) {
    const execution = fresh.find((one) => one.id === id);
    if (!execution) continue;
    Object.assign(execution, { iccid, progress: progress.get(id) ?? execution.progress });
    justAllotted.set(execution.progress, matchingId);
  }
  return executions.filter(({ id }) => !lost.has(id));
}

function newSealedMatchingId({ keyring }: Means, accountUuid: string, executionUuid: string) {
  const matchingId = newMatchingId();
  return {
    matchingId,
    sealedMatchingId: keyring.seal(matchingId, orderMatchingIdPlace(accountUuid, executionUuid)),
  };
}

// Matching ids by the progress that holds them sealed: the process that made one need not open it (11 µs an order).
const justAllotted = new WeakMap<object, string>();

async function readMatchingId({ keyring }: Means, execution: HeldExecution): Promise<string | null> {
  const { account_id: accountUuid, id, progress } = execution;
  const { matching_id: sealed } = progress as Progress;
  if (sealed === undefined) return null;
  return justAllotted.get(progress) ?? keyring.open(sealed, orderMatchingIdPlace(accountUuid, id));
}

async function provision(means: Means, execution: HeldExecution): Promise<RunOutcome> {
  const { matching_id: allotted, verdict } = execution.progress as Progress;
  if (!allotted) return abandon(means, execution, noNumbersLeft);
  if (verdict) return abandon(means, execution, verdict);
  if (!(await isWanted(means, execution))) return abandon(means, execution, terminatedMeanwhile);
  const ordered = await order(means, execution);
  if (ordered.kind !== 'ordered') return ordered;
  const { iccid } = ordered;
  const { account_id, id, fence } = execution;
  const matchingId = (await readMatchingId(means, execution)) as string;
  const sealedCode = (execution.input as Input).sealed_confirmation_code;
  const confirmationCode =
    sealedCode === undefined
      ? null
      : await means.keyring.open(sealedCode, confirmationCodePlace(account_id, id));

  const confirmed = await execution.call('confirm', (call) =>
    means.network.confirm({ iccid, matchingId, confirmationCode, ...call, ...wanted(execution) }),
  );
  if (confirmed.kind !== 'done') return refuse(means, execution, confirmed);
  const { matchingId: confirmedId } = confirmed.result;
  // Sealed anew only where the network chose another one.
  const bound: Progress = {
    is_confirmed: true,
    ...(confirmedId !== matchingId && {
      matching_id: means.keyring.seal(confirmedId, orderMatchingIdPlace(account_id, id)),
    }),
  };
  Object.assign(execution.progress, bound);
  justAllotted.set(execution.progress, confirmedId);
  if (!confirmed.result.isReleased) {
    if (!(await execution.save(bound))) return done; // renews the lease for one more call
    const released = await execution.call('release', (call) =>
      means.network.release({ iccid, matchingId: confirmedId, ...call }),
    );
    if (released.kind !== 'done') return refuse(means, execution, released);
  }
  const outcome = await settlerOf(means.db)({
    account_id,
    id,
    fence,
    iccid,
    smdpAddress: confirmed.result.smdpAddress,
    sealedMatchingId: means.keyring.seal(confirmedId, esimMatchingIdPlace(account_id, iccid)),
    confirmationCodeRequired: confirmed.result.confirmationCodeRequired,
    bundleUuid: uuidText(means.newUuid()),
    at: new Date(means.clock.nowMs()),
    event: newEvent(means, {
      accountUuid: account_id,
      type: 'esim.provisioned',
      data: { iccid, ...correlation(execution) },
    }),
  });
  if (outcome === 'gone') return abandon(means, execution, terminatedMeanwhile);
  if (outcome === 'settled') means.onOutcome(execution.type, 'succeeded');
  return done;
}

/** Orders that end together are settled by one statement, and one commit. */
const settlerOf = perDatabase((db) =>
  createGroupCommit({
    write: (rows: Provisioned[]) => settleProvisionedRows(db, rows, defaultThresholds),
  }),
);

function wanted({ product_id: productId, progress, input }: HeldExecution) {
  const { profile_type: profileType = null } = progress as Progress;
  return { productId, profileType, eid: (input as Input).eid ?? null };
}

/** The first step, once: its result is a recovery point of its own. */
async function order(
  means: Means,
  execution: HeldExecution,
): Promise<RunOutcome | { kind: 'ordered'; iccid: string }> {
  const progress = execution.progress as Progress;
  if (progress.is_ordered && execution.iccid !== null) return { kind: 'ordered', iccid: execution.iccid };
  const reply = await execution.call('order', (call) =>
    means.network.order({ iccid: execution.iccid, ...call, ...wanted(execution) }),
  );
  if (reply.kind !== 'done') return refuse(means, execution, reply);
  const { iccid, isInferred } = reply.result;
  const reached: Progress = { is_ordered: true, ...(!isInferred && { is_reserved: true }) };
  const stored = await storeOrdered(means, execution, iccid, reached);
  if (stored === 'taken') return abandon(means, execution, takenNumber);
  execution.iccid = iccid;
  Object.assign(execution.progress, reached);
  return stored === 'lost' ? done : { kind: 'ordered', iccid };
}

/** An order that was allotted a number has its eSIM already, whosever numbers are used by now. */
async function storeOrdered(means: Means, execution: HeldExecution, iccid: string, reached: Progress) {
  if (execution.iccid !== null) return (await execution.save(reached)) ? 'inserted' : 'lost';
  return insertOrderedEsim(means.db, {
    ...execution,
    esimUuid: uuidText(means.newUuid()),
    iccid,
    at: new Date(means.clock.nowMs()),
  });
}

/** A first attempt is wanted; before a later one somebody may have terminated the eSIM. */
async function isWanted(
  means: Means,
  { attempts, account_id: accountUuid, iccid }: HeldExecution,
): Promise<boolean> {
  if (attempts === 1 || iccid === null) return true;
  const esim = await findEsim(means.db, accountUuid, iccid);
  return esim?.status === 'provisioning';
}

async function refuse(
  means: Means,
  execution: HeldExecution,
  reply: Exclude<Reply<unknown>, { kind: 'done' }>,
): Promise<RunOutcome> {
  if (reply.kind === 'failed') return { kind: 'failed', reason: reply.reason };
  return abandon(means, execution, errorOf(reply.reason), reply.isOthers);
}

/**
 * Fails the order, and first gives back what the network has reserved for it. The verdict is stored before that: whoever
 * resumes must neither confirm what may be given back already, nor take another cause for the one that counts.
 */
async function abandon(
  means: Means,
  execution: HeldExecution,
  error: ExecutionError,
  isOthers = false,
): Promise<RunOutcome> {
  const { iccid, progress } = execution;
  if (iccid !== null && mayBeHeld(progress)) {
    const decided: Progress = { verdict: error, ...(isOthers && { is_closed: true }) };
    Object.assign(progress, decided);
    if (!(await execution.save(decided))) return done;
    const undone = isOthers ? null : await undo(means, execution, iccid);
    if (undone?.kind === 'failed') return { kind: 'failed', reason: undone.reason };
    if (undone?.kind === 'done' && !(await execution.save({ is_closed: true } satisfies Progress)))
      return done;
  }
  await fail(means, execution, error);
  return done;
}

async function undo(means: Means, execution: HeldExecution, iccid: string) {
  const matchingId = await readMatchingId(means, execution);
  const { eid } = wanted(execution);
  return execution.call('undo', (call) =>
    means.network.cancel({
      ...call,
      iccid,
      matchingId,
      eid,
      isUnconfirmed: isUnconfirmed(execution.progress),
    }),
  );
}

/** No attempt is left: what can be given back is, the order ends either way. */
async function giveUp(means: Means, execution: HeldExecution, last: ExecutionError): Promise<void> {
  const isNameless = execution.iccid === null && execution.progress[sentMark('order')] === true;
  const { verdict = last } = execution.progress as Progress;
  const error = isNameless ? unknownOrder(execution, last) : verdict;
  const outcome = await abandon(means, execution, error).catch(unlessUnreadable);
  if (outcome.kind === 'failed') await fail(means, execution, error);
}

/** Without its matching id nothing can be given back, and no later attempt can either. */
function unlessUnreadable(error: unknown): { kind: 'failed' } {
  if (error instanceof UnreadableSecret) return { kind: 'failed' };
  throw error;
}

/** The network may hold a profile for this order, and only it can say which. */
function unknownOrder(execution: HeldExecution, last: ExecutionError): ExecutionError {
  const id = callId(execution, 'order');
  return {
    ...last,
    code: 'outcome_unknown',
    message: `${last.message} Whether the network has reserved a profile is not known: the operator should look up the call ${id} there first.`,
    upstream: { ...last.upstream, function_call_identifier: id },
    retryable: false,
  };
}

/** For good: the execution, its eSIM and the event that tells of it. */
function fail(means: Means, execution: HeldExecution, error: ExecutionError): Promise<void> {
  return means.db.transaction(async (tx) => {
    if (!(await execution.finish(tx, error))) return;
    const { iccid } = execution;
    if (iccid !== null) await changeStatus(tx, iccid, 'fail');
    const data = {
      ...(iccid !== null && { iccid }),
      ...correlation(execution),
      error: { code: error.code, message: error.message },
    };
    await emit(tx, [
      newEvent(means, { accountUuid: execution.account_id, type: 'esim.provisioning_failed', data }),
    ]);
  });
}

const noNumbersLeft: ExecutionError = {
  code: 'out_of_stock',
  message:
    'Every number of the operator’s ICCID ranges is taken; the operator adds a range to SIMPLANE_ICCID_RANGES, then order again.',
  retryable: true,
};

const terminatedMeanwhile: ExecutionError = {
  code: 'state_conflict',
  message: 'The eSIM was terminated while it was being provisioned.',
  retryable: false,
};

const takenNumber: ExecutionError = {
  code: 'outcome_unknown',
  message:
    'The network answered with the ICCID of another eSIM, so which profile it has reserved is not known. The operator should look the order up there; then order again.',
  retryable: false,
};

function correlation(execution: ClaimedExecution) {
  return { execution_id: idOfUuid(idPrefixes.execution, execution.id), product_id: execution.product_id };
}
