import { expect, test, vi } from 'vitest';
import type { Context } from '../../accounts/context.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { listTimeline } from './timeline.ts';

const uuidAt = (n: number) => `0190a000-0000-7000-8000-00000000000${n}`;
const eventAt = (n: number) => ({
  uuid: uuidAt(n),
  event: { id: idOfUuid('evt', uuidAt(n)), type: 'a.b', data: data.of },
});
const isCut = vi.hoisted(() => ({ now: true }));
const data = vi.hoisted(() => ({ of: {} as Record<string, unknown> }));

vi.mock('../../orders/esims/get.ts', () => ({
  requireEsim: async () => ({ account_id: 'a', iccid: '8900' }),
}));
vi.mock('../../accounts/audit/find-order-requests.ts', () => ({ findOrderRequests: async () => new Map() }));
vi.mock('../../notify/webhooks/deliveries/list.ts', () => ({ countDeliveries: async () => new Map() }));
vi.mock('../../notify/events/list.ts', () => ({
  listEventsOfEsim: async () => ({ rows: [8, 6].map(eventAt), isCut: isCut.now }),
}));
vi.mock('../../orders/executions/list.ts', () => ({
  listExecutionsOfEsim: async () =>
    [9, 7, 5].map((n) => ({
      id: uuidAt(n),
      type: 'esim.provision',
      status: 'queued',
      created_at: new Date(0),
      price: null,
      error: null,
      attempts: 0,
      batch_id: null,
      finished_at: null,
      waiting_for: null,
      next_attempt_at: null,
      retry_of: null,
      retried_by: null,
    })),
}));

/** The last digits of the entries' ids, and whether there are more. */
async function read(cut: boolean) {
  isCut.now = cut;
  const ctx = { account: { id: 'acct_1', uuid: 'a' } } as unknown as Context;
  const { data, has_more } = await listTimeline(ctx, { params: { iccid: '8900' }, query: {}, body: {} });
  const idsOf = (n: number) => [idOfUuid('evt', uuidAt(n)), idOfUuid('exec', uuidAt(n))];
  return [data.map(({ id }) => [5, 6, 7, 8, 9].find((n) => idsOf(n).includes(id))), has_more];
}

test('a page that has no room for more events ends there: an older order comes with the events before it', async () => {
  expect(await read(true)).toEqual([[9, 8, 7, 6], true]);
  expect(await read(false)).toEqual([[9, 8, 7, 6, 5], false]);
});

test('an entry names the execution of its event only if that is a text: a test event may have anything there', async () => {
  const ctx = { account: { id: 'acct_1', uuid: 'a' } } as unknown as Context;
  for (const [given, shown] of [
    ['exec_1', 'exec_1'],
    [7, undefined],
    [null, undefined],
  ]) {
    data.of = { execution_id: given };
    const page = await listTimeline(ctx, { params: { iccid: '8900' }, query: {}, body: {} });
    const entry = page.data.find(({ type }) => type === 'a.b');
    expect(entry && 'execution_id' in entry ? entry.execution_id : undefined).toBe(shown);
  }
});
