import { type BodyOf, type CallOperation, createCaller, operatorBase, type QueryOf } from './call.ts';
import { createConnection, type SimplaneOptions } from './connection.ts';
import { createSimplane } from './create-simplane.ts';
import { consumersOf, feedOf } from './event-feed.ts';
import type { OperatorWebhookEvent } from './feed.ts';
import { createList } from './list.ts';
import { createRequest } from './request.ts';
import { type CallOptions, createTransport } from './transport.ts';
import { deliveriesOf, recoveriesOf, webhookEndpointsOf } from './webhook-endpoints.ts';

type OfCells = { cells?: 'own' };

export type Operator = ReturnType<typeof createOperator>;

/** Creates a client for the operator of a deployment. Its key has the `operator` scope and belongs to no account. */
export function createOperator(options: SimplaneOptions) {
  const connection = createConnection(options);
  const transport = createTransport(options, connection);
  const call = createCaller(transport);
  const callDeployment = createCaller(transport, operatorBase);
  return {
    /** Returns the key and the mode of the deployment. */
    me: (options?: CallOptions) => call('getMe', {}, options),
    /** Calls any operation by its method and path: for those without a function here. */
    request: createRequest(transport),
    /** Returns what happens in the deployment at the moment, what waits, and the orders of the last day. `cells` says of which cells. */
    overview: ({ cells, ...options }: CallOptions & OfCells = {}) =>
      call('getOperatorOverview', { query: { ...(cells && { cells }) } }, options),
    /** Finds an id, an ICCID or its last digits, or a reference, in all accounts. */
    search: (q: string, { limit, cells, ...options }: CallOptions & OfCells & { limit?: number } = {}) =>
      call(
        'searchAccounts',
        { query: { q, ...(limit !== undefined && { limit }), ...(cells && { cells }) } },
        options,
      ),
    /** The events of all accounts, each with its `account_id`. */
    events: feedOf<OperatorWebhookEvent>(callDeployment, connection, options.maxRetries, operatorBase),
    /** Named places in the events of all accounts. */
    consumers: consumersOf<OperatorWebhookEvent>(callDeployment),
    /** Webhook endpoints of the deployment, which get the events of all accounts. */
    webhookEndpoints: webhookEndpointsOf(callDeployment),
    deliveries: deliveriesOf(callDeployment),
    recoveries: recoveriesOf(callDeployment),
    processes: {
      /** Lists the running processes of the deployment. */
      list: (query?: QueryOf<'listProcesses'>, options?: CallOptions) =>
        createList(query, (query) => call('listProcesses', { query }, options)),
    },
    sessions: {
      /** Lists who is signed in to the dashboard with operators' keys. */
      list: (query?: QueryOf<'listOperatorSessions'>, options?: CallOptions) =>
        createList(query, (query) => call('listOperatorSessions', { query }, options)),
      /** Signs a session out, on every process. */
      revoke: (id: string, options?: CallOptions) =>
        call('deleteOperatorSession', { params: { id } }, options),
    },
    networks: {
      /** Lists the SM-DP+ and the core as the workers see them. */
      list: (query?: QueryOf<'listNetworks'>, options?: CallOptions) =>
        createList(query, (query) => call('listNetworks', { query }, options)),
    },
    iccidRanges: {
      /** Lists the ICCID ranges of the workers, how much of each is used, and how long it lasts. */
      list: (query?: QueryOf<'listIccidRanges'>, options?: CallOptions) =>
        createList(query, (query) => call('listIccidRanges', { query }, options)),
    },
    endpointHealth: {
      /** Lists the webhook endpoints of all accounts, and what waits for each. */
      list: (query?: QueryOf<'listEndpointHealth'>, options?: CallOptions) =>
        createList(query, (query) => call('listEndpointHealth', { query }, options)),
    },
    rejectedUsage: {
      /** Lists usage records that were not counted, and why. */
      list: (query?: QueryOf<'listRejectedUsage'>, options?: CallOptions) =>
        createList(query, (query) => call('listRejectedUsage', { query }, options)),
    },
    serviceChanges: {
      /** Lists the eSIMs whose newest state the core does not have: `pending` ones, or those that it `refused`. */
      list: (query?: QueryOf<'listServiceChanges'>, options?: CallOptions) =>
        createList(query, (query) => call('listServiceChanges', { query }, options)),
    },
    core: {
      /** Sends the state of every eSIM to the core again. */
      resync: (options?: CallOptions) => call('resyncCore', {}, options),
    },
    observations: {
      /** For cells: takes what the network reported to another and belongs to eSIMs that are here. */
      take: (body: BodyOf<'takeObservations'>, options?: CallOptions) =>
        call('takeObservations', { body }, options),
    },
    products: {
      /** Lists the whole catalog, including unlisted and inactive products. */
      list: (query?: QueryOf<'listCatalogProducts'>, options?: CallOptions) =>
        createList(query, (query) => call('listCatalogProducts', { query }, options)),
      get: (id: string, options?: CallOptions) => call('getCatalogProduct', { params: { id } }, options),
      /** Creates or replaces a product. Fields that are left out get their defaults. */
      put: (id: string, body: BodyOf<'putCatalogProduct'>, options?: CallOptions) =>
        call('putCatalogProduct', { params: { id }, body }, options),
      /** Stops selling a product. */
      deactivate: (id: string, options?: CallOptions) =>
        call('deactivateProduct', { params: { id } }, options),
    },
    auditLog: {
      /** Lists who changed what in all accounts and in the deployment. */
      list: (query?: QueryOf<'listOperatorAuditLog'>, options?: CallOptions) =>
        createList(query, (query) => call('listOperatorAuditLog', { query }, options)),
    },
    accounts: accountsOf(call),
    executions: executionsOf(call),
    failureGroups: {
      /** Groups failed and waiting executions by their cause, largest first. */
      list: (options?: CallOptions) => call('listFailureGroups', {}, options),
      /** Retries one execution of the group, and the others when that one has succeeded. */
      retry: (id: string, options?: CallOptions) => call('retryFailureGroup', { params: { id } }, options),
    },
    /** A client for one account. Everything it does is in the account’s audit log; writes need the scope `operator_write`. */
    account: (id: string) => createSimplane({ ...options, serviceAccount: id }),
  };
}

function accountsOf(call: CallOperation) {
  return {
    create: (body: BodyOf<'createAccount'>, options?: CallOptions) =>
      call('createAccount', { body }, options),
    list: (query?: QueryOf<'listAccounts'>, options?: CallOptions) =>
      createList(query, (query) => call('listAccounts', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getAccount', { params: { id } }, options),
    /** Changes the name, the status or limits. A null limit is the deployment’s. */
    update: (id: string, body: BodyOf<'updateAccount'>, options?: CallOptions) =>
      call('updateAccount', { params: { id }, body }, options),
    /** Ends its keys, sessions and endpoints, and its eSIMs if `terminate_esims` is set. It is not opened again. */
    close: (id: string, query?: QueryOf<'closeAccount'>, options?: CallOptions) =>
      call('closeAccount', { params: { id }, query }, options),
    /** Erases the personal data of a closed account. This cannot be undone. */
    erase: (id: string, options?: CallOptions) => call('eraseAccount', { params: { id } }, options),
    getErasure: (id: string, options?: CallOptions) => call('getAccountErasure', { params: { id } }, options),
    /** Creates a key of the account. The result contains the key itself, which is not returned again. */
    createApiKey: (id: string, body: BodyOf<'createAccountApiKey'>, options?: CallOptions) =>
      call('createAccountApiKey', { params: { id }, body }, options),
    listApiKeys: (id: string, query?: QueryOf<'listAccountApiKeys'>, options?: CallOptions) =>
      createList(query, (query) => call('listAccountApiKeys', { params: { id }, query }, options)),
    revokeApiKey: (id: string, keyId: string, options?: CallOptions) =>
      call('deleteAccountApiKey', { params: { id, key_id: keyId } }, options),
  };
}

function executionsOf(call: CallOperation) {
  return {
    /** Lists executions of all accounts, with their steps and call ids. */
    list: (query?: QueryOf<'listAllExecutions'>, options?: CallOptions) =>
      createList(query, (query) => call('listAllExecutions', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getAnyExecution', { params: { id } }, options),
    /** Starts a failed execution anew, or makes one that waits due. Returns the one that runs now. */
    retry: (id: string, options?: CallOptions) => call('retryExecution', { params: { id } }, options),
    /** Decides an execution that failed with `outcome_unknown`. */
    resolve: (id: string, body: BodyOf<'resolveExecution'>, options?: CallOptions) =>
      call('resolveExecution', { params: { id }, body }, options),
  };
}
