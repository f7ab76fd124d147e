import { defaultThresholds, idPrefixes } from '@simplane/contract';
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
import { allotRows, changeStatus, insertOrderedEsim, settleProvisioned } from './sql.ts';

/** What earlier attempts have reached. Each step is stored before the next begins, so a crash resumes and never orders twice. */
type Progress = { matching_id?: string; is_ordered?: true };

const done: RunOutcome = { kind: 'done' };

export function createProvisionRunner(allotIccids: AllotIccids): Runner {
  return {
    prepare: (means, executions) => allot(means, executions, allotIccids),
    run: provision,
    giveUp: fail,
  };
}

async function allot(means: Means, executions: ClaimedExecution[], allotIccids: AllotIccids): Promise<void> {
  const fresh = executions.filter(({ progress }) => !(progress as Progress).matching_id);
  if (fresh.length === 0) return;
  const iccids = means.network.iccids === 'ours' ? await allotIccids(means.db, fresh.length) : [];
  const at = new Date(means.clock.nowMs());
  const allotments = fresh.map((execution, index) => ({
    ...execution,
    esimUuid: uuidText(means.newUuid()),
    iccid: iccids[index] ?? null,
    matchingId: newMatchingId(),
    at,
  }));
  await allotRows(means.db, allotments);
  for (const [index, execution] of fresh.entries()) {
    const allotment = allotments[index];
    execution.iccid = allotment?.iccid ?? null;
    execution.progress['matching_id'] = allotment?.matchingId;
  }
}

async function provision(means: Means, execution: HeldExecution): Promise<RunOutcome> {
  const ordered = await order(means, execution);
  if (ordered.kind !== 'ordered') return ordered;
  const { iccid } = ordered;
  const productId = execution.product_id;
  const matchingId = (execution.progress as Progress).matching_id as string;

  const confirmed = await execution.call('confirm', (call) =>
    means.network.confirm({ ...call, iccid, productId, matchingId }),
  );
  if (confirmed.kind !== 'done') return refuse(means, execution, confirmed);
  if (!confirmed.result.isReleased) {
    const released = await execution.call('release', (call) => means.network.release({ ...call, iccid }));
    if (released.kind !== 'done') return refuse(means, execution, released);
  }
  const outcome = await settleProvisioned(means.db, {
    ...execution,
    iccid,
    smdpAddress: confirmed.result.smdpAddress,
    matchingId: confirmed.result.matchingId,
    confirmationCodeRequired: confirmed.result.confirmationCodeRequired,
    bundleUuid: uuidText(means.newUuid()),
    thresholds: defaultThresholds,
    at: new Date(means.clock.nowMs()),
    event: newEvent(means, {
      accountUuid: execution.account_id,
      type: 'esim.provisioned',
      data: { iccid, ...correlation(execution) },
    }),
  });
  if (outcome === 'gone') await fail(means, execution, terminatedMeanwhile);
  return done;
}

/** The first step, once: its result is a recovery point of its own. */
async function order(
  means: Means,
  execution: HeldExecution,
): Promise<RunOutcome | { kind: 'ordered'; iccid: string }> {
  const progress = execution.progress as Progress;
  if (progress.is_ordered && execution.iccid !== null) return { kind: 'ordered', iccid: execution.iccid };
  const reply = await execution.call('order', (call) =>
    means.network.order({ ...call, iccid: execution.iccid, productId: execution.product_id }),
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
  return isStillHeld ? { kind: 'ordered', iccid } : done;
}

async function refuse(
  means: Means,
  execution: HeldExecution,
  reply: { kind: 'refused' | 'failed'; reason: Parameters<typeof errorOf>[0] },
): Promise<RunOutcome> {
  if (reply.kind === 'failed') return { kind: 'failed', reason: reply.reason };
  await fail(means, execution, errorOf(reply.reason));
  return done;
}

/** For good: the execution, its eSIM and the event that tells of it. */
function fail(means: Means, execution: HeldExecution, error: ExecutionError): Promise<void> {
  return means.db.transaction(async (tx) => {
    if (!(await execution.finish(tx, error))) return;
    const { iccid } = execution;
    if (iccid !== null) await changeStatus(tx, iccid, 'fail');
    const data = { iccid, ...correlation(execution), error: { code: error.code, message: error.message } };
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
