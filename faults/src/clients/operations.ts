import type { Batch, Delivery, Esim, Event, Execution } from '@simplane/contract';
import type { Reliability } from '../deployment/receivers.ts';
import type { Credential, ListName, Sent } from '../history/history.ts';
import type { Operation, OperationKind } from '../plan.ts';
import type { RunContext } from '../run-context.ts';
import { until } from '../until.ts';
import { keepKey, signIn, tryCredential } from './credentials.ts';
import { type Request, send } from './send.ts';
import { recordWalk } from './walk.ts';

export type Task = { account: number; key: string; operation: Operation; isFirst: boolean };
type Run = (ctx: RunContext, task: Task) => Promise<void>;

export const products = ['prod_europe_1gb_7d', 'prod_us_1gb_7d', 'prod_jp_3gb_15d', 'prod_th_unlimited_10d'];
/** They cover a country of every other product. */
export const topUps = ['prod_global_1gb_7d', 'prod_global_10gb_60d'];
export const oddProducts = ['prod_sandbox_declined', 'prod_sandbox_flaky', 'prod_sandbox_slow'];
const types = [['*'], ['esim.*'], ['esim.provisioned', 'bundle.*'], ['test.*', 'webhook_endpoint.*']];
const lists: ListName[] = ['executions', 'esims', 'events', 'webhook_endpoints'];
const settleTimeoutMs = 60_000;

/** Customer operations; each makes a few calls of the public API. */
export const operations: Record<OperationKind, Run> = {
  async provision(ctx, task) {
    const { pick, choice } = task.operation;
    const product = chosen(choice < 0.8 ? products : oddProducts, pick);
    await write(ctx, task, { path: '/v1/esims', body: { product_id: product } });
  },
  async look(ctx, { account, operation }) {
    const { data } = await read<Execution>(ctx, account, '/v1/executions?limit=20');
    const one = chosen(data, operation.pick);
    if (one) await send(ctx, { account, path: `/v1/executions/${one.id}` });
  },
  async 'cancel-order'(ctx, task) {
    const { data } = await read<Execution>(ctx, task.account, '/v1/executions?limit=20&status=queued');
    const one = chosen(data, task.operation.pick);
    if (one) await write(ctx, task, { path: `/v1/executions/${one.id}/cancel` });
  },
  async 'order-batch'(ctx, task) {
    const { pick, choice } = task.operation;
    const body = { product_id: chosen(products, pick), quantity: 2 + Math.floor(choice * 4) };
    await write(ctx, task, { path: '/v1/batches', body });
  },
  async 'look-batch'(ctx, { account, operation }) {
    const { data } = await read<Batch>(ctx, account, '/v1/batches?limit=20');
    const one = chosen(data, operation.pick);
    if (one) await send(ctx, { account, path: `/v1/batches/${one.id}` });
  },
  async 'cancel-batch'(ctx, task) {
    const { data } = await read<Batch>(ctx, task.account, '/v1/batches?limit=20');
    const one = chosen(data, task.operation.pick);
    if (one) await write(ctx, task, { path: `/v1/batches/${one.id}/cancel` });
  },
  suspend: (ctx, task) => changeEsim(ctx, task, 'POST', '/suspend'),
  resume: (ctx, task) => changeEsim(ctx, task, 'POST', '/resume'),
  terminate: (ctx, task) => changeEsim(ctx, task, 'DELETE', ''),
  'erase-esim': eraseOwn,
  'top-up': (ctx, task) =>
    changeEsim(ctx, task, 'POST', '/bundles', { product_id: chosen(topUps, task.operation.choice) }),
  attach: (ctx, task) =>
    simulate(ctx, task, { action: 'attach', country: task.operation.choice < 0.5 ? 'FR' : 'IT' }),
  async 'use-data'(ctx, task) {
    const { choice } = task.operation;
    const iccid = await someEsim(ctx, task);
    if (iccid === undefined) return;
    const path = `/v1/sandbox/esims/${iccid}/simulate`;
    const usage = { action: 'use_data', bytes: 1 + Math.floor(choice * 400_000_000) };
    // Half are deduplicated by the idempotency key alone, half by a record id that is reported twice.
    if (choice < 0.5) return void (await write(ctx, task, { path, body: usage }));
    const body = { ...usage, record_id: task.key };
    await write(ctx, task, { path, body });
    await write(ctx, { ...task, key: `${task.key}-reported-again` }, { path, body });
  },
  async 'create-endpoint'(ctx, task) {
    const { pick, choice } = task.operation;
    const reliability: Reliability =
      task.isFirst || choice < 0.3 ? 'reliable' : choice < 0.75 ? 'flaky' : 'dead';
    const hook = ctx.newName('hook');
    await write(ctx, task, {
      path: '/v1/webhook_endpoints',
      body: {
        url: ctx.deployment.receivers.urlOf(task.account, hook, reliability),
        enabled_event_types: task.isFirst ? ['*'] : chosen(typesFor(ctx), pick),
        ordering: (pick * 10) % 1 < 0.5 ? 'none' : 'esim',
      },
    });
  },
  'retype-endpoint': (ctx, task) =>
    changeEndpoint(ctx, task, {
      method: 'PATCH',
      body: { enabled_event_types: chosen(typesFor(ctx), task.operation.choice) },
    }),
  'disable-endpoint': (ctx, task) =>
    changeEndpoint(ctx, task, { method: 'PATCH', body: { status: 'disabled' } }),
  'enable-endpoint': (ctx, task) => changeEndpoint(ctx, task, { rest: '/enable' }),
  'delete-endpoint': (ctx, task) => changeEndpoint(ctx, task, { method: 'DELETE' }),
  'rotate-secret': (ctx, task) =>
    changeEndpoint(ctx, task, {
      rest: '/rotate_secret',
      body: task.operation.choice < 0.5 ? { expires_in: 0 } : {},
    }),
  recover: (ctx, task) =>
    changeEndpoint(ctx, task, {
      rest: '/recover',
      body: { since: Math.floor(ctx.history.startedMs / 1000) },
    }),
  async replay(ctx, task) {
    const { data } = await read<Event>(ctx, task.account, '/v1/events?limit=20');
    const event = chosen(data, task.operation.pick);
    if (event) await write(ctx, task, { path: `/v1/events/${event.id}/replay`, body: {} });
  },
  'retry-delivery': (ctx, task) => changeDelivery(ctx, task, '', '/retry'),
  'skip-delivery': (ctx, task) => changeDelivery(ctx, task, '&status=pending', '/skip'),
  'test-event': async (ctx, task) => {
    const type = task.operation.pick < 0.5 ? 'test.from_the_customer' : 'esim.made_up';
    await write(ctx, task, {
      path: '/v1/events/test',
      body: { type, data: { note: 'Zürich → 東京', task: task.key } },
    });
  },
  async 'revoke-key'(ctx, task) {
    const body = { name: task.key, scopes: ['read'] };
    const made = await write(ctx, task, { path: '/v1/api_keys', body });
    if (made.status !== 201) return;
    const key = keepKey(ctx, task.account, JSON.parse(made.text));
    await tryCredential(ctx, key);
    await end(ctx, task, key, `/v1/api_keys/${key.id}`);
  },
  async 'sign-out'(ctx, task) {
    const session = await signIn(ctx, task.account, task.key);
    if (!session) return;
    await tryCredential(ctx, session);
    await end(ctx, task, session, `/v1/sessions/${session.id}`);
  },
  walk: (ctx, { account, operation }) =>
    recordWalk(
      ctx,
      account,
      chosen(lists, operation.pick) ?? 'events',
      3 + Math.floor(operation.choice * 30),
    ),
  async 'await-orders'(ctx, { account }) {
    await until(async () => {
      const [queued, running] = await Promise.all(
        ['queued', 'running'].map((status) => read(ctx, account, `/v1/executions?limit=1&status=${status}`)),
      );
      return queued?.data.length === 0 && running?.data.length === 0;
    }, settleTimeoutMs);
  },
  async 'await-deliveries'(ctx, { account }) {
    await until(async () => {
      const pending = await read<Event>(ctx, account, '/v1/events?limit=1&delivery=pending');
      return pending.data.length === 0;
    }, settleTimeoutMs);
  },
};

/** A live deployment refuses types that it does not have. */
function typesFor({ deployment }: RunContext): string[][] {
  return deployment.isLive ? types.filter((names) => !names.includes('test.*')) : types;
}

/** Sends a write with its key, and repeats it as planned: after the answer, to the other process, or to both at once. */
async function write(
  ctx: RunContext,
  { account, key, operation }: Task,
  request: Omit<Request, 'account'>,
): Promise<Sent> {
  const at = Math.floor(operation.pick * 1000);
  const full = { account, method: 'POST', key, at, hangsUp: operation.hangsUp, ...request };
  if (operation.repeat === 'at-once') {
    const [answer] = await Promise.all([send(ctx, full), send(ctx, { ...full, at: at + 1 })]);
    return answer;
  }
  const answer = await send(ctx, full);
  if (operation.repeat === 'after') await send(ctx, full);
  if (operation.repeat === 'elsewhere') await send(ctx, { ...full, at: at + 1 });
  return answer;
}

async function end(ctx: RunContext, task: Task, credential: Credential, path: string): Promise<void> {
  const answer = await write(ctx, { ...task, key: `${task.key}-end` }, { method: 'DELETE', path });
  if (answer.status !== 200) return;
  credential.endedMs = answer.answeredMs;
  await tryCredential(ctx, credential);
}

async function changeEsim(ctx: RunContext, task: Task, method: string, rest: string, body?: object) {
  const iccid = await someEsim(ctx, task);
  if (iccid === undefined) return;
  await write(ctx, task, { method, path: `/v1/esims/${iccid}${rest}`, ...(body && { body }) });
}

/** Orders an eSIM with a text about its user, ends it, and has the text erased. Others may change the eSIM meanwhile. */
async function eraseOwn(ctx: RunContext, task: Task): Promise<void> {
  const text = `~${ctx.newName('person')}~`;
  const body = { product_id: products[0], description: text, metadata: { user: text } };
  const order = await write(ctx, task, { path: '/v1/esims', body });
  if (order.status !== 202) return;
  const { id } = JSON.parse(order.text) as Execution;
  const iccid = (await ended(ctx, task.account, id))?.iccid;
  if (!iccid) return;
  const path = `/v1/esims/${iccid}`;
  const end = await write(ctx, { ...task, key: `${task.key}-terminate` }, { method: 'DELETE', path });
  if (end.status !== 202) return;
  await ended(ctx, task.account, (JSON.parse(end.text) as Execution).id);
  await write(ctx, { ...task, key: `${task.key}-erase` }, { path: `${path}/erase` });
}

/** The execution if it has succeeded; undefined if it failed or takes too long. */
async function ended(ctx: RunContext, account: number, id: string): Promise<Execution | undefined> {
  let execution: Execution | undefined;
  await until(async () => {
    const { status, text } = await send(ctx, { account, path: `/v1/executions/${id}` });
    execution = status === 200 ? JSON.parse(text) : undefined;
    return execution?.status === 'succeeded' || execution?.status === 'failed';
  }, settleTimeoutMs);
  return execution?.status === 'succeeded' ? execution : undefined;
}

async function simulate(ctx: RunContext, task: Task, body: object): Promise<void> {
  const iccid = await someEsim(ctx, task);
  if (iccid !== undefined) await write(ctx, task, { path: `/v1/sandbox/esims/${iccid}/simulate`, body });
}

type EndpointChange = { method?: string; rest?: string; body?: object };

async function changeEndpoint(
  ctx: RunContext,
  task: Task,
  { method = 'POST', rest = '', body }: EndpointChange,
) {
  const id = await someEndpoint(ctx, task);
  if (id === undefined) return;
  await write(ctx, task, { method, path: `/v1/webhook_endpoints/${id}${rest}`, ...(body && { body }) });
}

async function changeDelivery(ctx: RunContext, task: Task, filter: string, rest: string): Promise<void> {
  const endpoint = await someEndpoint(ctx, task);
  if (!endpoint) return;
  const path = `/v1/webhook_endpoints/${endpoint}/deliveries?limit=20${filter}`;
  const { data } = await read<Delivery>(ctx, task.account, path);
  const delivery = chosen(data, task.operation.choice);
  if (delivery) await write(ctx, task, { path: `/v1/deliveries/${delivery.id}${rest}` });
}

export async function someEsim(ctx: RunContext, { account, operation }: Task): Promise<string | undefined> {
  const { data } = await read<Esim>(ctx, account, '/v1/esims?limit=30');
  const ready = data.filter(({ status }) => status !== 'provisioning' && status !== 'failed');
  return chosen(ready, operation.pick)?.iccid;
}

/** Never a customer's first endpoint: it stays unchanged, so that one endpoint certainly gets everything. */
async function someEndpoint(ctx: RunContext, { account, operation }: Task): Promise<string | undefined> {
  const { data } = await read<{ id: string; url: string }>(ctx, account, '/v1/webhook_endpoints?limit=100');
  const first = new Set(firstEndpointsOf(ctx, account));
  return chosen(
    data.filter(({ id }) => !first.has(id)),
    operation.pick,
  )?.id;
}

function firstEndpointsOf({ history }: RunContext, account: number): string[] {
  return history.sent
    .filter((sent) => sent.account === account && sent.key?.endsWith('-0-create-endpoint'))
    .filter(({ status }) => status === 201)
    .map(({ text }) => (JSON.parse(text) as { id: string }).id);
}

async function read<Item>(ctx: RunContext, account: number, path: string): Promise<{ data: Item[] }> {
  const { status, text } = await send(ctx, { account, path });
  return status === 200 ? JSON.parse(text) : { data: [] };
}

function chosen<T>(choices: readonly T[], pick: number): T | undefined {
  return choices[Math.min(choices.length - 1, Math.floor(pick * choices.length))];
}
