import { imageOf } from './answer.ts';
import { batchesOf } from './batches.ts';
import { type BodyOf, type Call, type CallOperation, createCaller, pathOf, type QueryOf } from './call.ts';
import { createConnection, type SimplaneOptions } from './connection.ts';
import { withDryRun } from './dry-run.ts';
import { consumersOf, feedOf } from './event-feed.ts';
import { type Esim, type Execution, endpoints, type InstallProfile, type Page } from './generated.ts';
import { createList } from './list.ts';
import { createRequest } from './request.ts';
import { type CallOptions, createTransport, type Transport } from './transport.ts';
import { carrying, type WaitOptions, waitForExecution } from './wait.ts';
import { deliveriesOf, recoveriesOf, webhookEndpointsOf } from './webhook-endpoints.ts';
import type { WebhookEvent } from './webhooks.ts';

export type Simplane = ReturnType<typeof createSimplane>;

/** Creates a client for one deployment and one API key. It holds no connections and can be shared. */
export function createSimplane(options: SimplaneOptions) {
  const connection = createConnection(options);
  const transport = createTransport(options, connection);
  const call = createCaller(transport);
  return {
    /** Returns the account and scopes of the key, and the mode of the deployment. */
    me: (options?: CallOptions) => call('getMe', {}, options),
    /** Returns how the orders of the last day, or of another window, are doing. */
    overview: (query?: QueryOf<'getOverview'>, options?: CallOptions) =>
      call('getOverview', { query }, options),
    /** Finds an id, an ICCID or its last digits, a reference, a value of metadata, or an idempotency key. */
    search: (q: string, { limit, ...options }: CallOptions & { limit?: number } = {}) =>
      call('search', { query: { q, ...(limit !== undefined && { limit }) } }, options),
    /** Calls any operation by its method and path: for those without a function here. */
    request: createRequest(transport),
    products: productsOf(call),
    esims: { ...esimsOf(call, transport), provisionAndWait: provisioner(call) },
    batches: batchesOf(call, transport),
    bundles: bundlesOf(call),
    executions: executionsOf(call),
    events: { ...eventsOf(call), ...feedOf(call, connection, options.maxRetries) },
    consumers: consumersOf(call),
    webhookEndpoints: webhookEndpointsOf(call),
    recoveries: recoveriesOf(call),
    deliveries: deliveriesOf(call),
    apiKeys: apiKeysOf(call),
    sessions: {
      /** Lists who is signed in to the dashboard with keys of the account. The key needs the `admin` scope. */
      list: (query?: QueryOf<'listSessions'>, options?: CallOptions) =>
        createList(query, (query) => call('listSessions', { query }, options)),
      /** Signs a session out, on every process. */
      revoke: (id: string, options?: CallOptions) => call('deleteSession', { params: { id } }, options),
    },
    branding: {
      /** Returns what the pages of the account's install links show of it. */
      get: (options?: CallOptions) => call('getBranding', {}, options),
      /** Changes the given fields; null restores the default. */
      update: (body: BodyOf<'updateBranding'>, options?: CallOptions) =>
        call('updateBranding', { body }, options),
    },
    auditLog: {
      /** Lists who changed what in the account. The key needs the `admin` scope. */
      list: (query?: QueryOf<'listAuditLog'>, options?: CallOptions) =>
        createList(query, (query) => call('listAuditLog', { query }, options)),
    },
    requests: {
      /** Lists the request log of the last seven days. */
      list: (query?: QueryOf<'listRequests'>, options?: CallOptions) =>
        createList(query, (query) => call('listRequests', { query }, options)),
      /** Returns a request by its `Request-Id`: how it ended, its error and what to do about it. */
      get: (id: string, options?: CallOptions) => call('getRequest', { params: { id } }, options),
    },
    usageRecords: {
      /** Reports data usage. Each record counts once, however often it is sent. For the operator's network. */
      report: (body: BodyOf<'reportUsage'>, options?: CallOptions) => call('reportUsage', { body }, options),
    },
    sandbox: {
      /** Simulates a device or network action. */
      simulate: (iccid: string, body: BodyOf<'simulateEsim'>, options?: CallOptions) =>
        call('simulateEsim', { params: { iccid }, body }, options),
    },
  };
}

function productsOf(call: CallOperation) {
  return {
    list: (query?: QueryOf<'listProducts'>, options?: CallOptions) =>
      createList(query, (query) => call('listProducts', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getProduct', { params: { id } }, options),
  };
}

function esimsOf(call: CallOperation, transport: Transport) {
  return {
    /** Orders an eSIM and immediately returns the execution; `provisionAndWait` waits for it. */
    create: withDryRun<[], BodyOf<'createEsim'>, Execution>((body, options) =>
      call('createEsim', { body }, options),
    ),
    list: (query?: QueryOf<'listEsims'>, options?: CallOptions) =>
      createList(query, (query) => call('listEsims', { query }, options)),
    get: (iccid: string, options?: CallOptions) => call('getEsim', { params: { iccid } }, options),
    /** Changes `metadata` (merged; null removes a key) and `description`. */
    update: (iccid: string, body: BodyOf<'updateEsim'>, options?: CallOptions) =>
      call('updateEsim', { params: { iccid }, body }, options),
    /** Returns what the end user needs to install the eSIM. Treat it as a secret. */
    install: (iccid: string, options?: CallOptions) =>
      call('getInstallProfile', { params: { iccid } }, options),
    /** Returns the QR code image. Treat it as a secret. */
    async qr(iccid: string, type: 'image/png' | 'image/svg+xml', options?: CallOptions): Promise<Uint8Array> {
      const [method, path] = endpoints.getInstallProfile;
      const request = { method, path: pathOf(path, { iccid }), accept: type };
      return transport(request, options, (answer) => imageOf(answer, type));
    },
    /** Creates a link to send to the end user. Only this result contains its URL. */
    createInstallLink: (iccid: string, body: BodyOf<'createInstallLink'> = {}, options?: CallOptions) =>
      call('createInstallLink', { params: { iccid }, body }, options),
    listInstallLinks: (iccid: string, query?: QueryOf<'listInstallLinks'>, options?: CallOptions) =>
      createList(query, (query) => call('listInstallLinks', { params: { iccid }, query }, options)),
    /** The page ends at once. */
    revokeInstallLink: (iccid: string, id: string, options?: CallOptions) =>
      call('revokeInstallLink', { params: { iccid, id } }, options),
    suspend: (iccid: string, options?: CallOptions) => call('suspendEsim', { params: { iccid } }, options),
    resume: (iccid: string, options?: CallOptions) => call('resumeEsim', { params: { iccid } }, options),
    /** Terminates the eSIM permanently. */
    terminate: (iccid: string, options?: CallOptions) =>
      call('terminateEsim', { params: { iccid } }, options),
    /** Erases the personal data of a terminated eSIM. This cannot be undone. */
    erase: (iccid: string, options?: CallOptions) => call('eraseEsim', { params: { iccid } }, options),
    getErasure: (iccid: string, options?: CallOptions) =>
      call('getEsimErasure', { params: { iccid } }, options),
    /** Lists what happened to the eSIM: its order, commands and events. */
    timeline: (iccid: string, query?: QueryOf<'listTimeline'>, options?: CallOptions) =>
      createList(query, (query) => call('listTimeline', { params: { iccid }, query }, options)),
    /** Returns the data used in each hour or day. */
    usage: (iccid: string, query?: QueryOf<'getEsimUsage'>, options?: CallOptions) =>
      call('getEsimUsage', { params: { iccid }, query }, options),
  };
}

type Provisioned = { execution: Execution; esim: Esim; install: InstallProfile };

/** Orders, waits and reads the result. Errors after the order was accepted carry its execution. */
function provisioner(
  call: CallOperation,
): (
  body: BodyOf<'createEsim'> & { dry_run?: false },
  options?: CallOptions & WaitOptions,
) => Promise<Provisioned> {
  return async (body, options = {}) => {
    const { idempotencyKey: _, ...readOptions } = options;
    const accepted = await call('createEsim', { body }, options);
    options.onProgress?.(accepted);
    const execution = await waitForExecution(accepted.id, pollOf(call), options, accepted);
    const params = { iccid: execution.iccid as string };
    const reads = Promise.all([
      call('getEsim', { params }, readOptions),
      call('getInstallProfile', { params }, readOptions),
    ]);
    const [esim, install] = await carrying(execution, reads);
    return { execution, esim, install };
  };
}

function bundlesOf(call: CallOperation) {
  return {
    list: (iccid: string, query?: QueryOf<'listBundles'>, options?: CallOptions) =>
      createList(query, (query) => call('listBundles', { params: { iccid }, query }, options)),
    /** Adds a bundle to an eSIM. */
    add: withDryRun<[iccid: string], BodyOf<'addBundle'>, Execution>((iccid, body, options) =>
      call('addBundle', { params: { iccid }, body }, options),
    ),
    /** Cancels a bundle that is queued. */
    cancel: (iccid: string, id: string, options?: CallOptions) =>
      call('cancelBundle', { params: { iccid, id } }, options),
  };
}

function pollOf(call: CallOperation) {
  return (id: string, options?: CallOptions) => call('getExecution', { params: { id } }, options);
}

function executionsOf(call: CallOperation) {
  const get = pollOf(call);
  return {
    list: (query?: QueryOf<'listExecutions'>, options?: CallOptions) =>
      createList(query, (query) => call('listExecutions', { query }, options)),
    get,
    /** Waits until the execution succeeds. Throws ExecutionFailedError if it fails, TimeoutError after `waitMs`. */
    wait: (id: string, options: WaitOptions = {}) => waitForExecution(id, get, options),
    /** Ends an execution that has not reached the network; it fails with the code `canceled`. */
    cancel: (id: string, options?: CallOptions) => call('cancelExecution', { params: { id } }, options),
  };
}

function eventsOf(call: CallOperation) {
  return {
    /** `switch` on `type` to narrow `data`. */
    list: (query?: QueryOf<'listEvents'>, options?: CallOptions) =>
      createList(query, (query) => call('listEvents', { query }, options) as Call<Page<WebhookEvent>>),
    /** `switch` on `type` to narrow `data`. */
    get: (id: string, options?: CallOptions) =>
      call('getEvent', { params: { id } }, options) as Call<WebhookEvent>,
    listTypes: (query?: QueryOf<'listEventTypes'>, options?: CallOptions) =>
      createList(query, (query) => call('listEventTypes', { query }, options)),
    /** Publishes a custom event. Sandbox only. */
    sendTest: (body: BodyOf<'sendTestEvent'>, options?: CallOptions) =>
      call('sendTestEvent', { body }, options),
    /** Delivers the event again, to all endpoints that are now subscribed or to one endpoint. */
    replay: (id: string, body: BodyOf<'replayEvent'> = {}, options?: CallOptions) =>
      call('replayEvent', { params: { id }, body }, options),
    /** Delivers up to 100 events again; none of them if one does not exist. */
    replayAll: (body: BodyOf<'replayEvents'>, options?: CallOptions) =>
      call('replayEvents', { body }, options),
    listDeliveries: (id: string, query?: QueryOf<'listEventDeliveries'>, options?: CallOptions) =>
      createList(query, (query) => call('listEventDeliveries', { params: { id }, query }, options)),
  };
}

function apiKeysOf(call: CallOperation) {
  return {
    /** Creates a key. The result contains the key itself, which is not returned again. */
    create: (body: BodyOf<'createApiKey'>, options?: CallOptions) => call('createApiKey', { body }, options),
    list: (query?: QueryOf<'listApiKeys'>, options?: CallOptions) =>
      createList(query, (query) => call('listApiKeys', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getApiKey', { params: { id } }, options),
    update: (id: string, body: BodyOf<'updateApiKey'>, options?: CallOptions) =>
      call('updateApiKey', { params: { id }, body }, options),
    /** Returns a new key with the same scopes. The old one works for `expires_in` more seconds, by default for a day. */
    roll: (id: string, body: BodyOf<'rollApiKey'> = {}, options?: CallOptions) =>
      call('rollApiKey', { params: { id }, body }, options),
    /** Every process refuses the key within 5 seconds. */
    revoke: (id: string, options?: CallOptions) => call('deleteApiKey', { params: { id } }, options),
  };
}
