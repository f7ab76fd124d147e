import type { InputOf, Operation, Operations, OperatorOperationId, ResultOf } from '@simplane/contract';
import { getAccount } from '../accounts/get-account.ts';
import { listAccounts } from '../accounts/list-accounts.ts';
import { postAccount } from '../accounts/open-account.ts';
import { createKeyOfAccount, deleteKeyOfAccount, listKeysOfAccount } from '../accounts/operate-keys.ts';
import { updateAccount } from '../accounts/update-account.ts';
import { listOperatorAuditLog } from '../audit/list.ts';
import type { OperatorContext, OperatorWriteContext } from '../context.ts';
import { deleteOperatorSession } from '../dashboard/delete-session.ts';
import { listOperatorSessions } from '../dashboard/list-sessions.ts';
import { listIccidRanges } from '../esims/list-iccid-ranges.ts';
import { getAnyExecution } from '../executions/operator/get.ts';
import { listAllExecutions } from '../executions/operator/list.ts';
import { listFailureGroups } from '../executions/operator/list-groups.ts';
import { resolveExecution } from '../executions/operator/resolve.ts';
import { retryExecution } from '../executions/operator/retry.ts';
import { retryFailureGroup } from '../executions/operator/retry-group.ts';
import type { Outcome } from '../idempotency/outcome.ts';
import { getOperatorOverview } from '../overview/get-for-operator.ts';
import { listProcesses } from '../processes/list.ts';
import { listNetworks } from '../processes/list-networks.ts';
import { deactivateProduct } from '../products/deactivate.ts';
import { getCatalogProduct } from '../products/get.ts';
import { listCatalogProducts } from '../products/list.ts';
import { putCatalogProduct } from '../products/put.ts';
import { listEndpointHealth } from '../webhooks/endpoints/list-for-operator.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: OperatorContext, input: InputOf<O>) => Promise<ResultOf<O>>
  : (ctx: OperatorWriteContext, input: InputOf<O>) => Promise<Outcome>;

/** The handler of each of the operator's operations. Does not compile unless every one has one. */
export const operatorRoutes: { [Id in OperatorOperationId]: HandlerOf<Operations[Id]> } = {
  getOperatorOverview,
  listProcesses,
  listOperatorSessions,
  deleteOperatorSession,
  listNetworks,
  listIccidRanges,
  listEndpointHealth,
  listCatalogProducts,
  getCatalogProduct,
  putCatalogProduct,
  deactivateProduct,
  listOperatorAuditLog,
  createAccount: postAccount,
  listAccounts,
  getAccount,
  updateAccount,
  createAccountApiKey: createKeyOfAccount,
  listAccountApiKeys: listKeysOfAccount,
  deleteAccountApiKey: deleteKeyOfAccount,
  listAllExecutions,
  getAnyExecution,
  retryExecution,
  resolveExecution,
  listFailureGroups,
  retryFailureGroup,
};
