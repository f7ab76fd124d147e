import { afterAll, beforeAll, expect, test } from 'vitest';
import { importCatalog } from '../../src/accounts/products/import-catalog.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
let key: string;
beforeAll(async () => {
  service = await startService();
  key = await service.createKey({ scopes: ['operator'] });
});
afterAll(() => service.stop());

const product = {
  name: 'Acme',
  countries: ['DE'],
  data_bytes: 5_000_000_000,
  validity_days: 30,
  price: { amount: 999, currency: 'eur' },
  speeds: ['4G' as const],
};
const row = (id: string) => ({ ...product, id, active: true, listed: true });
const importRows = (ids: string[]) => importCatalog(service.db, service.service, ids.map(row));

const changesOf = async (id: string) => {
  const text = `select changes from audit_log where target_type = 'product' and target_id = $1 order by id`;
  const { rows } = await service.db.pool.query<{ changes: object }>(text, [id]);
  return rows.map(({ changes }) => changes);
};

test.each([
  ['replaced', 'PUT', '', { ...product, name: 'Third' }, { name: { from: 'Second', to: 'Third' } }],
  ['deactivated', 'POST', '/deactivate', undefined, {}],
] as const)(
  'a product that is %s while another change commits is logged as a change of that one',
  async (...of) => {
    const [verb, method, path, body, logged] = of;
    await importRows([verb]);
    let reply: ReturnType<typeof call> | undefined;
    await service.db.transaction(async (tx) => {
      const isActive = verb === 'replaced';
      await tx.query(
        { name: 'test_change', text: `update products set name = 'Second', active = $2 where id = $1` },
        [verb, isActive],
      );
      reply = call(service, method, `/v1/operator/products/${verb}${path}`, { key, body });
      await untilLockIsAwaited(service);
    });
    expect((await reply)?.json).toMatchObject({ id: verb, name: body?.name ?? 'Second' });
    expect(await changesOf(verb)).toEqual([expect.anything(), logged]);
  },
);

test.each([
  ['existing', (ids: string[]) => importRows(ids)],
  ['new', async () => {}],
])(
  'two imports of the same %s products in different orders do not wait for each other',
  async (name, prepare) => {
    const [first, second, third] = [`${name}-a`, `${name}-b`, `${name}-c`];
    await prepare([first, second, third]);
    let imports: Promise<unknown>[] = [];
    await service.db.transaction(async (tx) => {
      await tx.query(
        {
          name: 'test_hold_product',
          text: `
insert into products (id, name, countries, validity_days, price_amount, price_currency, speeds, active, created_at, listed)
values ($1, 'Held', '{DE}', 30, 1, 'eur', '{4G}', true, now(), true)
on conflict (id) do update
set name = 'Held'`,
        },
        [third],
      );
      // The first one waits for the last product, and the second one for the first product, which the first import has.
      imports = [importRows([first, third, second])];
      await untilLockIsAwaited(service);
      imports.push(importRows([second, first]));
      await untilLockIsAwaited(service, 2);
    });
    const counts = await Promise.allSettled(imports);
    expect(counts.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  },
);
