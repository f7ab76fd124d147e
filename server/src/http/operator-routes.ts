import type { InputOf, Operation, Operations, OperatorOperationId, ResultOf } from '@simplane/contract';
import { listOperatorAuditLog } from '../accounts/audit/list.ts';
import type { OperatorContext } from '../accounts/context.ts';
import { createAccount } from '../accounts/create-account.ts';
import { getAccount } from '../accounts/get-account.ts';
import { listAccounts } from '../accounts/list-accounts.ts';
import { createAccountApiKey, deleteAccountApiKey, listAccountApiKeys } from '../accounts/operate-keys.ts';
import { deactivateProduct } from '../accounts/products/deactivate.ts';
import { getCatalogProduct } from '../accounts/products/get.ts';
import { listCatalogProducts } from '../accounts/products/list.ts';
import { putCatalogProduct } from '../accounts/products/put.ts';
import { deleteOperatorSession } from '../accounts/sessions/delete-session.ts';
import { listOperatorSessions } from '../accounts/sessions/list-sessions.ts';
import { updateAccount } from '../accounts/update-account.ts';
import type { Write } from '../accounts/write.ts';
import { listEndpointHealth } from '../notify/webhooks/endpoints/list-for-operator.ts';
import { listIccidRanges } from '../orders/esims/list-iccid-ranges.ts';
import { listRejectedUsage } from '../orders/observations/list-rejected.ts';
import { getAnyExecution } from '../orders/operator/get.ts';
import { listAllExecutions } from '../orders/operator/list.ts';
import { listFailureGroups } from '../orders/operator/list-groups.ts';
import { resolveExecution } from '../orders/operator/resolve.ts';
import { retryExecution } from '../orders/operator/retry.ts';
import { retryFailureGroup } from '../orders/operator/retry-group.ts';
import { searchAccounts } from '../views/lookups/search-accounts.ts';
import { getOperatorOverview } from '../views/overview/get-for-operator.ts';
import { listProcesses } from '../views/processes/list.ts';
import { listNetworks } from '../views/processes/list-networks.ts';

type HandlerOf<O extends Operation> = O['method'] extends 'GET'
  ? (ctx: OperatorContext, input: InputOf<O>) => Promise<ResultOf<O>>
  : Write<OperatorContext, InputOf<O>, ResultOf<O>>;

type Elsewhere = 'readOperatorEventFeed';

/** The handler of each of the operator's operations. Does not compile unless every one has one; `http/feed` serves the feed. */
export const operatorRoutes: { [Id in Exclude<OperatorOperationId, Elsewhere>]: HandlerOf<Operations[Id]> } =
  {
    getOperatorOverview,
    searchAccounts,
    listProcesses,
    listRejectedUsage,
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
    createAccount,
    listAccounts,
    getAccount,
    updateAccount,
    createAccountApiKey,
    listAccountApiKeys,
    deleteAccountApiKey,
    listAllExecutions,
    getAnyExecution,
    retryExecution,
    resolveExecution,
    listFailureGroups,
    retryFailureGroup,
  };
