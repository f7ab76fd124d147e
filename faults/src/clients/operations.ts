import type { Delivery, Esim, Event, Execution } from '@simplane/contract';
import type { Temper } from '../deployment/receivers.ts';
import type { ListName, Sent } from '../history/history.ts';
import type { Operation, OperationKind } from '../plan.ts';
import { until } from '../until.ts';
import type { World } from '../world.ts';
import { ask, type Request } from './ask.ts';
import { recordWalk } from './walk.ts';

type Turn = { account: number; key: string; operation: Operation; isFirst: boolean };
type Act = (world: World, turn: Turn) => Promise<void>;

const products = ['prod_europe_1gb_7d', 'prod_us_1gb_7d', 'prod_jp_3gb_15d', 'prod_th_unlimited_10d'];
const oddProducts = ['prod_sandbox_declined', 'prod_sandbox_flaky', 'prod_sandbox_slow'];
const types = [['*'], ['esim.*'], ['esim.provisioned', 'bundle.*'], ['test.*', 'webhook_endpoint.*']];
const lists: ListName[] = ['executions', 'esims', 'events', 'webhook_endpoints'];
const settledWithinMs = 60_000;

/** What customers do: each a call or two of the public API, nothing else. */
export const operations: Record<OperationKind, Act> = {
  async provision(world, turn) {
    const { pick, choice } = turn.operation;
    const product = chosen(choice < 0.8 ? products : oddProducts, pick);
    await write(world, turn, { path: '/v1/esims', body: { product_id: product } });
  },
  async look(world, { account, operation }) {
    const { data } = await read<Execution>(world, account, '/v1/executions?limit=20');
    const one = chosen(data, operation.pick);
    if (one) await ask(world, { account, path: `/v1/executions/${one.id}` });
  },
  suspend: (world, turn) => changeEsim(world, turn, 'POST', '/suspend'),
  resume: (world, turn) => changeEsim(world, turn, 'POST', '/resume'),
  terminate: (world, turn) => changeEsim(world, turn, 'DELETE', ''),
  'top-up': (world, turn) =>
    changeEsim(world, turn, 'POST', '/bundles', { product_id: chosen(products, turn.operation.choice) }),
  attach: (world, turn) =>
    simulate(world, turn, { action: 'attach', country: turn.operation.choice < 0.5 ? 'FR' : 'IT' }),
  async 'use-data'(world, turn) {
    const { choice } = turn.operation;
    const iccid = await someEsim(world, turn);
    if (iccid === undefined) return;
    const path = `/v1/sandbox/esims/${iccid}/simulate`;
    const usage = { action: 'use_data', bytes: 1 + Math.floor(choice * 400_000_000) };
    // Half of them are told apart by the idempotency key alone, half by a record id that is reported twice.
    if (choice < 0.5) return void (await write(world, turn, { path, body: usage }));
    const body = { ...usage, record_id: turn.key };
    await write(world, turn, { path, body });
    await write(world, { ...turn, key: `${turn.key}-reported-again` }, { path, body });
  },
  async 'create-endpoint'(world, turn) {
    const { pick, choice } = turn.operation;
    const temper: Temper = turn.isFirst || choice < 0.3 ? 'good' : choice < 0.75 ? 'moody' : 'dead';
    const hook = world.newName('hook');
    await write(world, turn, {
      path: '/v1/webhook_endpoints',
      body: {
        url: world.deployment.receivers.urlOf(turn.account, hook, temper),
        enabled_event_types: turn.isFirst ? ['*'] : chosen(types, pick),
      },
    });
  },
  'retype-endpoint': (world, turn) =>
    changeEndpoint(world, turn, {
      method: 'PATCH',
      body: { enabled_event_types: chosen(types, turn.operation.choice) },
    }),
  'disable-endpoint': (world, turn) =>
    changeEndpoint(world, turn, { method: 'PATCH', body: { status: 'disabled' } }),
  'enable-endpoint': (world, turn) => changeEndpoint(world, turn, { rest: '/enable' }),
  'delete-endpoint': (world, turn) => changeEndpoint(world, turn, { method: 'DELETE' }),
  'rotate-secret': (world, turn) =>
    changeEndpoint(world, turn, {
      rest: '/rotate_secret',
      body: turn.operation.choice < 0.5 ? { expires_in: 0 } : {},
    }),
  recover: (world, turn) =>
    changeEndpoint(world, turn, {
      rest: '/recover',
      body: { since: Math.floor(world.history.startedMs / 1000) },
    }),
  async replay(world, turn) {
    const { data } = await read<Event>(world, turn.account, '/v1/events?limit=20');
    const event = chosen(data, turn.operation.pick);
    if (event) await write(world, turn, { path: `/v1/events/${event.id}/replay`, body: {} });
  },
  async 'retry-delivery'(world, turn) {
    const endpoint = await someEndpoint(world, turn);
    if (!endpoint) return;
    const path = `/v1/webhook_endpoints/${endpoint}/deliveries?limit=20`;
    const { data } = await read<Delivery>(world, turn.account, path);
    const delivery = chosen(data, turn.operation.choice);
    if (delivery) await write(world, turn, { path: `/v1/deliveries/${delivery.id}/retry` });
  },
  'test-event': async (world, turn) => {
    const type = turn.operation.pick < 0.5 ? 'test.from_the_customer' : 'esim.made_up';
    await write(world, turn, {
      path: '/v1/events/test',
      body: { type, data: { note: 'Zürich → 東京', turn: turn.key } },
    });
  },
  walk: (world, { account, operation }) =>
    recordWalk(
      world,
      account,
      chosen(lists, operation.pick) ?? 'events',
      3 + Math.floor(operation.choice * 30),
    ),
  async 'await-orders'(world, { account }) {
    await until(async () => {
      const [queued, running] = await Promise.all(
        ['queued', 'running'].map((status) =>
          read(world, account, `/v1/executions?limit=1&status=${status}`),
        ),
      );
      return queued?.data.length === 0 && running?.data.length === 0;
    }, settledWithinMs);
  },
  async 'await-deliveries'(world, { account }) {
    await until(async () => {
      const pending = await read<Event>(world, account, '/v1/events?limit=1&delivery=pending');
      return pending.data.length === 0;
    }, settledWithinMs);
  },
};

/** A write with its key, repeated as planned: after the answer, at the other process, or at both at once. */
async function write(
  world: World,
  { account, key, operation }: Turn,
  request: Omit<Request, 'account'>,
): Promise<Sent> {
  const at = Math.floor(operation.pick * 1000);
  const whole = { account, method: 'POST', key, at, isImpatient: operation.isImpatient, ...request };
  if (operation.repeat === 'at-once') {
    const [answer] = await Promise.all([ask(world, whole), ask(world, { ...whole, at: at + 1 })]);
    return answer;
  }
  const answer = await ask(world, whole);
  if (operation.repeat === 'after') await ask(world, whole);
  if (operation.repeat === 'elsewhere') await ask(world, { ...whole, at: at + 1 });
  return answer;
}

async function changeEsim(world: World, turn: Turn, method: string, rest: string, body?: object) {
  const iccid = await someEsim(world, turn);
  if (iccid === undefined) return;
  await write(world, turn, { method, path: `/v1/esims/${iccid}${rest}`, ...(body && { body }) });
}

async function simulate(world: World, turn: Turn, body: object): Promise<void> {
  const iccid = await someEsim(world, turn);
  if (iccid !== undefined) await write(world, turn, { path: `/v1/sandbox/esims/${iccid}/simulate`, body });
}

type EndpointChange = { method?: string; rest?: string; body?: object };

async function changeEndpoint(
  world: World,
  turn: Turn,
  { method = 'POST', rest = '', body }: EndpointChange,
) {
  const id = await someEndpoint(world, turn);
  if (id === undefined) return;
  await write(world, turn, { method, path: `/v1/webhook_endpoints/${id}${rest}`, ...(body && { body }) });
}

async function someEsim(world: World, { account, operation }: Turn): Promise<string | undefined> {
  const { data } = await read<Esim>(world, account, '/v1/esims?limit=30');
  const ready = data.filter(({ status }) => status !== 'provisioning' && status !== 'failed');
  return chosen(ready, operation.pick)?.iccid;
}

/** Not the first of a customer: that one stays as it is, so that something is certain to get everything. */
async function someEndpoint(world: World, { account, operation }: Turn): Promise<string | undefined> {
  const { data } = await read<{ id: string; url: string }>(world, account, '/v1/webhook_endpoints?limit=100');
  const first = new Set(firstEndpointsOf(world, account));
  return chosen(
    data.filter(({ id }) => !first.has(id)),
    operation.pick,
  )?.id;
}

function firstEndpointsOf({ history }: World, account: number): string[] {
  return history.sent
    .filter((sent) => sent.account === account && sent.key?.endsWith('-0-create-endpoint'))
    .filter(({ status }) => status === 201)
    .map(({ text }) => (JSON.parse(text) as { id: string }).id);
}

async function read<Item>(world: World, account: number, path: string): Promise<{ data: Item[] }> {
  const { status, text } = await ask(world, { account, path });
  return status === 200 ? JSON.parse(text) : { data: [] };
}

function chosen<T>(choices: readonly T[], pick: number): T | undefined {
  return choices[Math.min(choices.length - 1, Math.floor(pick * choices.length))];
}
