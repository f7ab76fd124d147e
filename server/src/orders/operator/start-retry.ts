import type { ExecutionType } from '@simplane/contract';
import { requireOpenAccount } from '../../accounts/get-account.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { requireTopUpable } from '../bundles/add.ts';
import { type Change, requireChangeable } from '../esims/change.ts';
import { lockOwnEsim } from '../esims/lock.ts';
import { startAgain } from '../executions/start.ts';
import { type AnyExecutionRow, closeFailed } from './sql/executions.ts';

type Failed = Pick<AnyExecutionRow, 'account_id' | 'id' | 'type' | 'product_id' | 'iccid'>;

/** What a new execution does differently from the failed one. */
type Given = { input: object; iccid?: string; progress?(executionUuid: string): object };

/** Starts an execution in place of a failed one, which the caller has locked. Returns its uuid. */
export async function startRetry(
  tx: Queryable,
  deps: TimeAndIds,
  failed: Failed,
  given: Given,
): Promise<string> {
  const { account_id: accountUuid, id, type, product_id: productId } = failed;
  const iccid = type === 'esim.provision' ? (given.iccid ?? null) : failed.iccid;
  await requirePossible(tx, accountUuid, type, iccid);
  const retriedBy = await startAgain(deps, tx, {
    accountUuid,
    type,
    productId: productId as string,
    iccid,
    input: { ...given.input, retry_of: id },
    ...(given.progress && { progress: given.progress }),
  });
  await closeFailed(tx, { accountUuid, uuid: id, retriedBy });
  return retriedBy;
}

/** The same conditions as for the account's own request. */
async function requirePossible(
  tx: Queryable,
  accountUuid: string,
  type: ExecutionType,
  iccid: string | null,
): Promise<void> {
  if (type !== 'esim.terminate') await requireOpenAccount(tx, accountUuid);
  if (type === 'esim.provision') return;
  if (type === 'bundle.add') {
    await requireTopUpable(tx, accountUuid, iccid as string);
    return;
  }
  const esim = await lockOwnEsim(tx, accountUuid, iccid as string);
  await requireChangeable(tx, esim, type.slice('esim.'.length) as Change);
}
