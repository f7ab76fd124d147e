import { type BodyOf, type CallOperation, createCaller, pathOf, type QueryOf } from './call.ts';
import { type Esim, type Execution, endpoints, type InstallProfile } from './generated.ts';
import { createList } from './list.ts';
import { type CallOptions, createTransport, type SimplaneOptions, type Transport } from './transport.ts';
import { type WaitOptions, waitForExecution } from './wait.ts';

export type Simplane = ReturnType<typeof createSimplane>;

/** A client of one deployment, with one key. It holds no connection of its own and may be shared by everything. */
export function createSimplane(options: SimplaneOptions) {
  const transport = createTransport(options);
  const call = createCaller(transport);
  const executions = executionsOf(call);
  return {
    /** Whose key this is, and in which mode. */
    me: (options?: CallOptions) => call('getMe', {}, options),
    products: productsOf(call),
    esims: { ...esimsOf(call, transport), provisionAndWait: provisioner(call, executions.wait) },
    bundles: bundlesOf(call),
    executions,
    events: eventsOf(call),
    webhookEndpoints: webhookEndpointsOf(call),
    deliveries: deliveriesOf(call),
    usageRecords: {
      /** Reports what eSIMs have used, each record once however often it is sent. For the operator's network. */
      report: (body: BodyOf<'reportUsage'>, options?: CallOptions) => call('reportUsage', { body }, options),
    },
    sandbox: {
      /** Lets a device or a network do something. */
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
    /** Orders an eSIM and returns at once with the execution; `provisionAndWait` waits for it. */
    create: (body: BodyOf<'createEsim'>, options?: CallOptions) => call('createEsim', { body }, options),
    list: (query?: QueryOf<'listEsims'>, options?: CallOptions) =>
      createList(query, (query) => call('listEsims', { query }, options)),
    get: (iccid: string, options?: CallOptions) => call('getEsim', { params: { iccid } }, options),
    /** What the end user installs it with. A secret. */
    install: (iccid: string, options?: CallOptions) =>
      call('getInstallProfile', { params: { iccid } }, options),
    /** The QR code as a picture. A secret, too. */
    async qr(iccid: string, type: 'image/png' | 'image/svg+xml', options?: CallOptions): Promise<Uint8Array> {
      const [method, path] = endpoints.getInstallProfile;
      return (await transport({ method, path: pathOf(path, { iccid }), accept: type }, options)).bytes;
    },
    suspend: (iccid: string, options?: CallOptions) => call('suspendEsim', { params: { iccid } }, options),
    resume: (iccid: string, options?: CallOptions) => call('resumeEsim', { params: { iccid } }, options),
    /** Ends it for good. */
    terminate: (iccid: string, options?: CallOptions) =>
      call('terminateEsim', { params: { iccid } }, options),
  };
}

type Provisioned = { execution: Execution; esim: Esim; install: InstallProfile };

function provisioner(
  call: CallOperation,
  wait: (id: string, options?: WaitOptions) => Promise<Execution>,
): (body: BodyOf<'createEsim'>, options?: CallOptions & WaitOptions) => Promise<Provisioned> {
  return async (body, options = {}) => {
    const accepted = await call('createEsim', { body }, options);
    const execution = await wait(accepted.id, options);
    const params = { iccid: execution.iccid as string };
    const { idempotencyKey: _, ...reading } = options;
    const [esim, install] = await Promise.all([
      call('getEsim', { params }, reading),
      call('getInstallProfile', { params }, reading),
    ]);
    return { execution, esim, install };
  };
}

function bundlesOf(call: CallOperation) {
  return {
    list: (iccid: string, query?: QueryOf<'listBundles'>, options?: CallOptions) =>
      createList(query, (query) => call('listBundles', { params: { iccid }, query }, options)),
    /** Tops an eSIM up. */
    add: (iccid: string, body: BodyOf<'addBundle'>, options?: CallOptions) =>
      call('addBundle', { params: { iccid }, body }, options),
  };
}

function executionsOf(call: CallOperation) {
  const get = (id: string, options?: CallOptions) => call('getExecution', { params: { id } }, options);
  return {
    list: (query?: QueryOf<'listExecutions'>, options?: CallOptions) =>
      createList(query, (query) => call('listExecutions', { query }, options)),
    get,
    /** Until it has succeeded; throws ExecutionFailedError when it fails and TimeoutError when the wait is over. */
    wait: (id: string, options: WaitOptions = {}) => waitForExecution(id, get, options),
  };
}

function eventsOf(call: CallOperation) {
  return {
    list: (query?: QueryOf<'listEvents'>, options?: CallOptions) =>
      createList(query, (query) => call('listEvents', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getEvent', { params: { id } }, options),
    listTypes: (query?: QueryOf<'listEventTypes'>, options?: CallOptions) =>
      createList(query, (query) => call('listEventTypes', { query }, options)),
    /** Publishes an event of your own making. Sandbox only. */
    sendTest: (body: BodyOf<'sendTestEvent'>, options?: CallOptions) =>
      call('sendTestEvent', { body }, options),
    /** Delivers it again: to everybody who is subscribed now, or to one endpoint. */
    replay: (id: string, body: BodyOf<'replayEvent'> = {}, options?: CallOptions) =>
      call('replayEvent', { params: { id }, body }, options),
    listDeliveries: (id: string, query?: QueryOf<'listEventDeliveries'>, options?: CallOptions) =>
      createList(query, (query) => call('listEventDeliveries', { params: { id }, query }, options)),
  };
}

function webhookEndpointsOf(call: CallOperation) {
  return {
    /** The answer holds the signing secret: it is shown this once. */
    create: (body: BodyOf<'createWebhookEndpoint'>, options?: CallOptions) =>
      call('createWebhookEndpoint', { body }, options),
    list: (query?: QueryOf<'listWebhookEndpoints'>, options?: CallOptions) =>
      createList(query, (query) => call('listWebhookEndpoints', { query }, options)),
    get: (id: string, options?: CallOptions) => call('getWebhookEndpoint', { params: { id } }, options),
    update: (id: string, body: BodyOf<'updateWebhookEndpoint'>, options?: CallOptions) =>
      call('updateWebhookEndpoint', { params: { id }, body }, options),
    delete: (id: string, options?: CallOptions) => call('deleteWebhookEndpoint', { params: { id } }, options),
    enable: (id: string, options?: CallOptions) => call('enableWebhookEndpoint', { params: { id } }, options),
    /** A new secret; the old one signs beside it for as long as `expires_in` says. */
    rotateSecret: (id: string, body: BodyOf<'rotateWebhookSecret'> = {}, options?: CallOptions) =>
      call('rotateWebhookSecret', { params: { id }, body }, options),
    /** Delivers what it missed since then. */
    recover: (id: string, body: BodyOf<'recoverWebhookEndpoint'>, options?: CallOptions) =>
      call('recoverWebhookEndpoint', { params: { id }, body }, options),
    listDeliveries: (id: string, query?: QueryOf<'listEndpointDeliveries'>, options?: CallOptions) =>
      createList(query, (query) => call('listEndpointDeliveries', { params: { id }, query }, options)),
  };
}

function deliveriesOf(call: CallOperation) {
  return {
    get: (id: string, options?: CallOptions) => call('getDelivery', { params: { id } }, options),
    retry: (id: string, options?: CallOptions) => call('retryDelivery', { params: { id } }, options),
  };
}
