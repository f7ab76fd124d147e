import type { Operator, Simplane } from '@simplane/sdk';
import { customerJourneys } from './customer-journeys.ts';
import type { Receivers } from './start-receivers.ts';
import { done, failed, later, type Step, sold } from './steps.ts';

export const seededDays = 6;

type Given = {
  api: Simplane;
  operator: Operator;
  /** A client for another account. */
  clientOf(apiKey: string): Simplane;
  receivers: Receivers;
  /** Sets the sandbox's clock to so long ago. */
  moveClock(secondsAgo: number): Promise<void>;
};

/** What the pictures show. */
export type Seeded = { iccid: string; endpointId: string; eventId: string };

const [minute, hour, day] = [60, 3_600, 86_400];

/** Some days of a small business: its settings, its customers' eSIMs, its mistakes, and what went wrong. */
export async function seedBusiness(given: Given): Promise<Seeded> {
  const { api, receivers, moveClock } = given;
  const ids = { crm: '', warehouse: '' };
  const traveller = sold(api, 'prod_europe_5gb_30d', { order_id: 'A-1042', customer: 'cus_819' });
  const steps: Step[] = [
    ...settings(given, ids),
    ...otherAccounts(given),
    ...customerJourneys(api),
    ...mistakes(api),
    ...travellersJourney(api, traveller),
    later(2 * hour, () => receivers.stopWarehouse()),
    later(7 * minute, async () => receivers.breakCrm()),
  ];
  for (const { secondsAgo, run } of steps.sort((a, b) => b.secondsAgo - a.secondsAgo)) {
    await moveClock(secondsAgo);
    await run();
  }
  await moveClock(0);
  await api.sandbox.simulate(traveller.iccid, { action: 'attach', country: 'IT' });
  const eventId = await retriedEvent(api, traveller.iccid);
  return { iccid: traveller.iccid, endpointId: ids.warehouse, eventId };
}

function settings({ api, operator, receivers }: Given, ids: { crm: string; warehouse: string }): Step[] {
  const start = seededDays * day;
  return [
    later(start, async () => {
      const { account } = await api.me();
      await operator.accounts.update(account?.id ?? '', { name: 'Acme Travel' });
    }),
    later(start - hour, async () => {
      await api.webhookEndpoints.create({
        url: receivers.shopUrl,
        enabled_event_types: ['*'],
        description: 'Web shop',
      });
      const crm = await api.webhookEndpoints.create({
        url: receivers.crmUrl,
        enabled_event_types: ['esim.*'],
        description: 'CRM',
      });
      const warehouse = await api.webhookEndpoints.create({
        url: receivers.warehouseUrl,
        enabled_event_types: ['bundle.*'],
        description: 'Data warehouse',
      });
      Object.assign(ids, { crm: crm.id, warehouse: warehouse.id });
    }),
    later(start - 2 * hour, async () => {
      const backend = await api.apiKeys.create({ name: 'shop backend', scopes: ['read', 'write'] });
      await api.apiKeys.create({
        name: 'nightly report',
        scopes: ['read'],
        allowed_cidrs: ['203.0.113.0/24'],
      });
      const laptop = await api.apiKeys.create({ name: 'laptop of Kim', scopes: ['read', 'write'] });
      await api.apiKeys.revoke(laptop.id);
      await api.apiKeys.roll(backend.id, { expires_in: 3_600 });
    }),
    later(3 * hour, () => api.webhookEndpoints.rotateSecret(ids.crm, {})),
  ];
}

/** They matter to the operator's view only. */
function otherAccounts({ operator, clientOf }: Given): Step[] {
  return ['Nomad Sims', 'Wanderline', 'Fjord Mobile'].flatMap((name, index) => {
    const products = [
      'prod_us_10gb_30d',
      'prod_global_1gb_7d',
      'prod_jp_3gb_15d',
      'prod_sandbox_out_of_stock',
    ];
    let client: Simplane;
    return [
      later(5 * day - index * hour, async () => {
        const { id } = await operator.accounts.create({ name });
        const { key } = await operator.accounts.createApiKey(id, {
          name: 'backend',
          scopes: ['read', 'write'],
        });
        client = clientOf(key as string);
      }),
      ...products
        .slice(0, 4 - index)
        .map((product, number) =>
          later((6 * number + 2) * hour - index * 17 * minute, () => sold(client, product).order()),
        ),
    ];
  });
}

/** Requests that the API refuses, as anyone who integrates makes them. */
function mistakes(api: Simplane): Step[] {
  return [
    later(5 * hour, () => failed(api.esims.create({ product_id: 'prod_europe_5gb' }))),
    later(4 * hour, () => failed(api.esims.create({ product_id: 'prod_europe_5gb_30d', eid: '8904' }))),
    later(70 * minute, () => failed(api.esims.get('8999901000000000000'))),
    later(21 * minute, () => failed(api.esims.create({ product_id: '' }))),
  ];
}

/** The eSIM that the pictures show from close by. */
function travellersJourney(api: Simplane, traveller: ReturnType<typeof sold>): Step[] {
  const did = (secondsAgo: number, body: Parameters<typeof api.sandbox.simulate>[1]) =>
    later(secondsAgo, () => api.sandbox.simulate(traveller.iccid, body));
  const start = 4 * day + 3 * hour;
  const mb = 1_000_000;
  return [
    later(start, traveller.order),
    did(start - 12 * minute, { action: 'download' }),
    did(start - 12 * minute - 15, { action: 'install' }),
    did(start - 12 * minute - 20, { action: 'enable' }),
    did(start - 14 * minute, { action: 'attach', country: 'FR' }),
    ...[310, 520, 480, 260, 640, 390].map((megabytes, index) =>
      did(3.9 * day - index * 14 * hour, { action: 'use_data', bytes: megabytes * mb }),
    ),
    later(4.5 * hour, () => done(api, api.esims.suspend(traveller.iccid))),
    later(2.5 * hour, () => done(api, api.esims.resume(traveller.iccid))),
    later(100 * minute, () =>
      done(api, api.bundles.add(traveller.iccid, { product_id: 'prod_europe_1gb_7d' })),
    ),
    did(80, { action: 'use_data', bytes: 1_480 * mb }),
  ];
}

/** Waits until the newest event of the eSIM was tried a few times by the broken endpoint. */
async function retriedEvent(api: Simplane, iccid: string): Promise<string> {
  for (const endMs = Date.now() + 300_000; Date.now() < endMs; ) {
    const [event] = (await api.events.list({ iccid, type: 'esim.country_changed', limit: 1 })).data;
    const deliveries = event ? (await api.events.listDeliveries(event.id)).data : [];
    if (event && deliveries.some(({ attempts }) => attempts.length >= 4)) return event.id;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('the broken endpoint was not tried four times in five minutes');
}
