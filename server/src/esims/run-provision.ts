import { defaultThresholds } from '@simplane/contract';
import { createGroupCommit, perDatabase } from '../db/group-commit.ts';
import { newEvent } from '../events/new-event.ts';
import {
  type Deps,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Runner,
  type RunOutcome,
} from '../executions/worker.ts';
import { uuidText } from '../ids/uuid.ts';
import type { Reply } from '../network/port.ts';
import {
  confirmationCodePlace,
  esimMatchingIdPlace,
  orderMatchingIdPlace,
} from '../secrets/sealed-places.ts';
import { allot, keepMatchingId, readMatchingId } from './allot.ts';
import type { AllotIccids } from './iccid.ts';
import type { OrderInput, Progress } from './reservation.ts';
import { findEsim, insertOrderedEsim, type Provisioned, settleProvisionedRows } from './sql.ts';
import { failAfterLastAttempt, orderIds, undoAndFail } from './undo-provision.ts';

const done: RunOutcome = { kind: 'done' };

/** Carries out an order for an eSIM: order, confirm and release a profile, then settle. How it is undone: undo-provision.ts. */
export function createProvisionRunner(allotIccids: AllotIccids): Runner {
  return {
    prepare: (deps, executions) => allot(deps, executions, allotIccids),
    run: provision,
    fail: failAfterLastAttempt,
  };
}

async function provision(deps: Deps, execution: HeldExecution): Promise<RunOutcome> {
  const { matching_id: allotted, verdict } = execution.progress as Progress;
  if (!allotted) return undoAndFail(deps, execution, noNumbersLeft);
  if (verdict) return undoAndFail(deps, execution, verdict);
  if (!(await isWanted(deps, execution))) return undoAndFail(deps, execution, terminatedMeanwhile);
  const ordered = await order(deps, execution);
  if (ordered.kind !== 'ordered') return ordered;
  const { iccid } = ordered;
  const { account_id, id, fence } = execution;
  const matchingId = (await readMatchingId(deps, execution)) as string;
  const sealedCode = (execution.input as OrderInput).sealed_confirmation_code;
  const confirmationCode =
    sealedCode === undefined
      ? null
      : await deps.keyring.open(sealedCode, confirmationCodePlace(account_id, id));

  const confirmed = await execution.call('confirm', (call) =>
    deps.network.confirm({ iccid, matchingId, confirmationCode, ...call, ...wanted(execution) }),
  );
  if (confirmed.kind !== 'done') return retryOrUndo(deps, execution, confirmed);
  const { matchingId: confirmedId } = confirmed.result;
  // Sealed anew only where the network chose another one.
  const bound: Progress = {
    is_confirmed: true,
    ...(confirmedId !== matchingId && {
      matching_id: deps.keyring.seal(confirmedId, orderMatchingIdPlace(account_id, id)),
    }),
  };
  Object.assign(execution.progress, bound);
  keepMatchingId(execution, confirmedId);
  if (!confirmed.result.isReleased) {
    if (!(await execution.save(bound))) return done; // renews the lease for one more call
    const released = await execution.call('release', (call) =>
      deps.network.release({ iccid, matchingId: confirmedId, ...call }),
    );
    if (released.kind !== 'done') return retryOrUndo(deps, execution, released);
  }
  const outcome = await settlerOf(deps.db)({
    account_id,
    id,
    fence,
    iccid,
    smdpAddress: confirmed.result.smdpAddress,
    sealedMatchingId: deps.keyring.seal(confirmedId, esimMatchingIdPlace(account_id, iccid)),
    confirmationCodeRequired: confirmed.result.confirmationCodeRequired,
    bundleUuid: uuidText(deps.newUuid()),
    at: new Date(deps.clock.nowMs()),
    event: newEvent(deps, {
      accountUuid: account_id,
      type: 'esim.provisioned',
      data: { iccid, ...orderIds(execution) },
    }),
  });
  if (outcome === 'gone') return undoAndFail(deps, execution, terminatedMeanwhile);
  if (outcome === 'settled') deps.onOutcome(execution.type, 'succeeded');
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
  return { productId, profileType, eid: (input as OrderInput).eid ?? null };
}

/** The first step, once: its result is a recovery point of its own. */
async function order(
  deps: Deps,
  execution: HeldExecution,
): Promise<RunOutcome | { kind: 'ordered'; iccid: string }> {
  const progress = execution.progress as Progress;
  if (progress.is_ordered && execution.iccid !== null) return { kind: 'ordered', iccid: execution.iccid };
  const reply = await execution.call('order', (call) =>
    deps.network.order({ iccid: execution.iccid, ...call, ...wanted(execution) }),
  );
  if (reply.kind !== 'done') return retryOrUndo(deps, execution, reply);
  const { iccid, isInferred } = reply.result;
  const reached: Progress = { is_ordered: true, ...(!isInferred && { is_reserved: true }) };
  const stored = await storeOrdered(deps, execution, iccid, reached);
  if (stored === 'taken') return undoAndFail(deps, execution, takenNumber);
  execution.iccid = iccid;
  Object.assign(execution.progress, reached);
  return stored === 'lost' ? done : { kind: 'ordered', iccid };
}

/** An order that was allotted an ICCID has its eSIM already, even if the source of ICCIDs has changed since. */
async function storeOrdered(deps: Deps, execution: HeldExecution, iccid: string, reached: Progress) {
  if (execution.iccid !== null) return (await execution.save(reached)) ? 'inserted' : 'lost';
  return insertOrderedEsim(deps.db, {
    ...execution,
    esimUuid: uuidText(deps.newUuid()),
    iccid,
    at: new Date(deps.clock.nowMs()),
  });
}

/** False when the eSIM was terminated since an earlier attempt. */
async function isWanted(
  deps: Deps,
  { attempts, account_id: accountUuid, iccid }: HeldExecution,
): Promise<boolean> {
  if (attempts === 1 || iccid === null) return true;
  const esim = await findEsim(deps.db, accountUuid, iccid);
  return esim?.status === 'provisioning';
}

/** A failure may pass and is tried again; a refusal is final. */
async function retryOrUndo(
  deps: Deps,
  execution: HeldExecution,
  reply: Exclude<Reply<unknown>, { kind: 'done' }>,
): Promise<RunOutcome> {
  if (reply.kind === 'failed') return { kind: 'failed', reason: reply.reason };
  return undoAndFail(deps, execution, errorOf(reply.reason), reply.isOthers);
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
