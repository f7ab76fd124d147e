import { defaultThresholds, idPrefixes } from '@simplane/contract';
import { createGroupCommit, perDatabase } from '../db/group-commit.ts';
import { idOfUuid, uuidText } from '../db/uuid.ts';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import {
  type ClaimedExecution,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Means,
  type Runner,
  type RunOutcome,
} from '../executions/worker.ts';
import { newMatchingId } from './activation-code.ts';
import type { AllotIccids } from './iccid.ts';
import {
  allotRows,
  changeStatus,
  findEsim,
  insertOrderedEsim,
  type Provisioned,
  settleProvisionedRows,
} from './sql.ts';

/** What earlier attempts have reached. Each step is stored before the next begins, so a crash resumes and never orders twice. */
type Progress = { matching_id?: string; is_ordered?: true };

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
  const iccids = means.network.iccids === 'ours' ? await allotIccids(means.db, fresh.length) : [];
  const at = new Date(means.clock.nowMs());
  const allotments = fresh.map((execution, index) => ({
    ...execution,
    esimUuid: uuidText(means.newUuid()),
    iccid: iccids[index] ?? null,
    matchingId: newMatchingId(),
    at,
  }));
  const held = new Set((await allotRows(means.db, allotments)).map(({ id }) => id));
  for (const [index, execution] of fresh.entries()) {
    const allotment = allotments[index];
    execution.iccid = allotment?.iccid ?? null;
    execution.progress['matching_id'] = allotment?.matchingId;
  }
  // What another worker took over meanwhile has numbers of its own: with ours it must not reach the network.
  return executions.filter((execution) => !fresh.includes(execution) || held.has(execution.id));
}

async function provision(means: Means, execution: HeldExecution): Promise<RunOutcome> {
  if (!(await isWanted(means, execution))) return abandon(means, execution, terminatedMeanwhile);
  const ordered = await order(means, execution);
  if (ordered.kind !== 'ordered') return ordered;
  const { iccid } = ordered;
  const matchingId = (execution.progress as Progress).matching_id as string;

  const confirmed = await execution.call('confirm', (call) =>
    means.network.confirm({ ...call, ...wanted(execution), iccid, matchingId, confirmationCode: null }),
  );
  if (confirmed.kind !== 'done') return refuse(means, execution, confirmed);
  if (!confirmed.result.isReleased) {
    if (!(await execution.save({}))) return done; // renews the lease for one more call
    const released = await execution.call('release', (call) => means.network.release({ ...call, iccid }));
    if (released.kind !== 'done') return refuse(means, execution, released);
  }
  const outcome = await settlerOf(means.db)({
    ...execution,
    iccid,
    smdpAddress: confirmed.result.smdpAddress,
    matchingId: confirmed.result.matchingId,
    confirmationCodeRequired: confirmed.result.confirmationCodeRequired,
    bundleUuid: uuidText(means.newUuid()),
    at: new Date(means.clock.nowMs()),
    event: newEvent(means, {
      accountUuid: execution.account_id,
      type: 'esim.provisioned',
      data: { iccid, ...correlation(execution) },
    }),
  });
  return outcome === 'gone' ? abandon(means, execution, terminatedMeanwhile) : done;
}

/** Orders that end together are settled by one statement, and one commit. */
const settlerOf = perDatabase((db) =>
  createGroupCommit({
    write: (rows: Provisioned[]) => settleProvisionedRows(db, rows, defaultThresholds),
  }),
);

function wanted({ product_id: productId }: HeldExecution) {
  return { productId, profileType: null, eid: null };
}

/** The first step, once: its result is a recovery point of its own. */
async function order(
  means: Means,
  execution: HeldExecution,
): Promise<RunOutcome | { kind: 'ordered'; iccid: string }> {
  const progress = execution.progress as Progress;
  if (progress.is_ordered && execution.iccid !== null) return { kind: 'ordered', iccid: execution.iccid };
  const reply = await execution.call('order', (call) =>
    means.network.order({ ...call, ...wanted(execution), iccid: execution.iccid }),
  );
  if (reply.kind !== 'done') return refuse(means, execution, reply);
  const { iccid } = reply.result;
  const isStillHeld =
    means.network.iccids === 'ours'
      ? await execution.save({ is_ordered: true } satisfies Progress)
      : await insertOrderedEsim(means.db, {
          ...execution,
          esimUuid: uuidText(means.newUuid()),
          iccid,
          matchingId: progress.matching_id as string,
          at: new Date(means.clock.nowMs()),
        });
  execution.iccid = iccid;
  execution.progress['is_ordered'] = true;
  return isStillHeld ? { kind: 'ordered', iccid } : done;
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
  reply: { kind: 'refused' | 'failed'; reason: Parameters<typeof errorOf>[0] },
): Promise<RunOutcome> {
  if (reply.kind === 'failed') return { kind: 'failed', reason: reply.reason };
  return abandon(means, execution, errorOf(reply.reason));
}

/** Fails the order, and first gives back what the network has reserved for it: nobody should pay for that. */
async function abandon(means: Means, execution: HeldExecution, error: ExecutionError): Promise<RunOutcome> {
  const { iccid, progress } = execution;
  if (iccid !== null && (progress as Progress).is_ordered) {
    const matchingId = (progress as Progress).matching_id ?? null;
    const undone = await execution.call('undo', (call) =>
      means.network.cancel({ ...call, iccid, matchingId }),
    );
    if (undone.kind === 'failed') return { kind: 'failed', reason: undone.reason };
  }
  await fail(means, execution, error);
  return done;
}

/** No attempt is left: what can be given back is, the order ends either way. */
async function giveUp(means: Means, execution: HeldExecution, error: ExecutionError): Promise<void> {
  const outcome = await abandon(means, execution, error);
  if (outcome.kind === 'failed') await fail(means, execution, error);
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

const terminatedMeanwhile: ExecutionError = {
  code: 'state_conflict',
  message: 'The eSIM was terminated while it was being provisioned.',
  retryable: false,
};

function correlation(execution: ClaimedExecution) {
  return { execution_id: idOfUuid(idPrefixes.execution, execution.id), product_id: execution.product_id };
}
