import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCatalog, readCatalog } from '../../src/accounts/products/import-catalog.ts';
import { createRunners } from '../../src/background/execution-runners.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network } from '../../src/network/port.ts';
import { parseIccidRanges } from '../../src/orders/esims/iccid-ranges.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const goodEid = '89882119900000000000000000001654';
const code = 'Tulip-4711';

type Confirmation = Parameters<Network['confirm']>[0];
const orders: Parameters<Network['order']>[0][] = [];
const confirmations: Confirmation[] = [];
let confirm: Network['confirm'];

let service: TestService;
beforeAll(async () => {
  service = await startService();
  const mock = createMockNetwork({ delayMs: 0 });
  confirm = mock.confirm;
  service.startWorker({
    ...mock,
    order: (request) => {
      orders.push(request);
      return mock.order(request);
    },
    confirm: (request) => {
      confirmations.push(request);
      return confirm(request);
    },
  });
  await importProduct({ profile_type: 'ACME 5G-2' });
});
afterAll(() => service.stop());

async function importProduct(fields: object) {
  const product = {
    id: 'acme',
    name: 'Acme',
    countries: ['FR'],
    data_bytes: 1000,
    validity_days: 30,
    price: { amount: 1, currency: 'eur' },
    speeds: ['5G'],
    ...fields,
  };
  const read = readCatalog(JSON.stringify([product]));
  if ('problems' in read) return read.problems.map(({ problem }) => problem);
  await importCatalog(service.db, service.service, read.products);
  return [];
}

function order(body: object, target: TestService = service) {
  return provision(target, undefined, { product_id: 'acme', ...body });
}

async function settled(executionId: string, target: TestService = service) {
  return until(
    async () => (await call(target, 'GET', `/v1/executions/${executionId}`)).json,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function insertEsim({ db, service: { newUuid } }: TestService, accountUuid: string, iccid: string) {
  await db.pool.query(
    `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
     values ($1, $2, $3, $2, 'prod_us_1gb_7d', 'active', '{}', now())`,
    [accountUuid, newUuid().toString('hex'), iccid],
  );
}

const callsFor = <T extends { id: string }>(calls: T[], iccid: string) =>
  calls.filter((one) => (one as unknown as { iccid: string }).iccid === iccid);

test('an eSIM’s null fields and metadata can be sent back in an order', async () => {
  const { iccid } = await settled((await order({ metadata: { kept: '1', gone: null, empty: '' } })).json.id);
  const { json } = await call(service, 'GET', `/v1/esims/${iccid}`);
  const { eid, description, metadata } = json;
  expect({ eid, description, metadata }).toEqual({ eid: null, description: null, metadata: { kept: '1' } });
  const again = await settled((await order({ eid, description, metadata })).json.id);
  const copy = (await call(service, 'GET', `/v1/esims/${again.iccid}`)).json;
  expect([copy.eid, copy.description, copy.metadata]).toEqual([null, null, { kept: '1' }]);
});

test('a catalog with a country that is not in ISO 3166-1 is refused', async () => {
  const problem = 'countries.1 must be an ISO 3166-1 alpha-2 country code';
  expect(await importProduct({ countries: ['GB', 'UK'] })).toEqual([problem]);
});

describe('the profile type of a product', () => {
  test('reaches the network with the order, and is not part of the public product', async () => {
    const { iccid } = await settled((await order({})).json.id);
    expect(callsFor(orders, iccid)).toMatchObject([
      { productId: 'acme', profileType: 'ACME 5G-2', eid: null },
    ]);
    expect(callsFor(confirmations, iccid)).toMatchObject([{ profileType: 'ACME 5G-2' }]);
    const { text } = await call(service, 'GET', '/v1/products/acme');
    expect(text).not.toContain('profile_type');
    expect(text).not.toContain('ACME 5G-2');
  });

  test('is fixed at the first attempt, so a retry never requests another one', async () => {
    let failures = 1;
    const good = confirm;
    confirm = async (request) => {
      if (failures-- <= 0) return good(request);
      await importProduct({ profile_type: 'ACME-3' });
      return { kind: 'failed', reason: { code: 'network_unavailable', message: 'not now' } };
    };
    const { iccid } = await settled((await order({})).json.id);
    confirm = good;
    expect(callsFor(confirmations, iccid).map(({ profileType }) => profileType)).toEqual([
      'ACME 5G-2',
      'ACME 5G-2',
    ]);
    const next = await settled((await order({})).json.id);
    expect(callsFor(orders, next.iccid)).toMatchObject([{ profileType: 'ACME-3' }]);
  });

  test('may be omitted or null, and is refused if it is invalid', async () => {
    expect(await importProduct({ profile_type: null })).toEqual([]);
    const { iccid } = await settled((await order({})).json.id);
    expect(callsFor(orders, iccid)).toMatchObject([{ profileType: null }]);
    const words = 'profile_type must be printable ASCII without a space at either end';
    for (const wrong of ['', ' P1', 'P1 ', 'P1\n', 'Zürich', 'P\u00001']) {
      expect(await importProduct({ profile_type: wrong })).toEqual([words]);
    }
    expect(await importProduct({ profile_type: 'x'.repeat(101) })).toEqual([
      'profile_type must NOT have more than 100 characters',
    ]);
    expect(await importProduct({ profile_type: 7 })).toEqual(['profile_type must be string,null']);
  });
});

describe('the EID of an order', () => {
  test('reaches the network and shows on the eSIM from the start', async () => {
    const accepted = await order({ eid: goodEid });
    const { iccid } = await settled(accepted.json.id);
    expect(callsFor(orders, iccid)).toMatchObject([{ eid: goodEid }]);
    expect(callsFor(confirmations, iccid)).toMatchObject([{ eid: goodEid }]);
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json.eid).toBe(goodEid);
  });

  test.each([
    [goodEid.slice(1), /at least 32 characters/],
    [`${goodEid}0`, /at most 32 characters/],
    [`${goodEid.slice(0, 31)}x`, /must match \^\[0-9\]\+\$/],
    [`${goodEid.slice(0, 30)}55`, /wrong check digits/],
    [Number(goodEid.slice(0, 15)), /must be a string/],
  ])('is refused when it is %s', async (eid, message) => {
    const { status, json } = await order({ eid });
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', 'eid']);
    expect(json.error.message).toMatch(message);
  });

  test('with wrong digits under a used key is idempotency_key_reused, like any other body', async () => {
    await provision(service, 'eid-key', { product_id: 'acme' });
    const reply = await provision(service, 'eid-key', {
      product_id: 'acme',
      eid: `${goodEid.slice(0, 30)}55`,
    });
    expect(reply.json.error.code).toBe('idempotency_key_reused');
  });
});

describe('the confirmation code of an order', () => {
  /** Every row of every table, as text. */
  async function everythingStored(): Promise<string> {
    const tables = await service.db.query<{ name: string }>({
      name: 'test_tables',
      text: `select table_name as name from information_schema.tables where table_schema = 'public'`,
    });
    const contents = await Promise.all(
      tables.map(({ name }) =>
        service.db.query({ name: `test_dump_${name}`, text: `select t::text from "${name}" t` }),
      ),
    );
    return JSON.stringify(contents);
  }

  test('reaches the network, is required by the device, and is stored only sealed and only until the order ends', async () => {
    let stored = '';
    const good = confirm;
    confirm = async (request) => {
      stored = await everythingStored();
      return good(request);
    };
    const accepted = await order({ confirmation_code: code });
    const execution = await settled(accepted.json.id);
    confirm = good;
    const { iccid } = execution;
    expect(callsFor(confirmations, iccid)).toMatchObject([{ confirmationCode: code }]);
    const { json: install } = await call(service, 'GET', `/v1/esims/${iccid}/install`);
    expect(install.confirmation_code_required).toBe(true);
    expect(install.lpa).toBe(`LPA:1$${install.smdp_address}$${install.matching_id}$$1`);

    expect(stored).toContain('sealed_confirmation_code');
    const after = await everythingStored();
    expect(after).not.toContain('sealed_confirmation_code');
    const shown = await Promise.all(
      [
        '/v1/executions',
        `/v1/executions/${execution.id}`,
        '/v1/esims',
        '/v1/events',
        `/v1/esims/${iccid}`,
      ].map(async (path) => (await call(service, 'GET', path)).text),
    );
    for (const text of [stored, after, accepted.text, ...shown, ...service.logLines]) {
      expect(text).not.toContain(code);
    }
  });

  test('is also deleted when the order fails', async () => {
    const good = confirm;
    confirm = async () => ({ kind: 'refused', reason: { code: 'declined', message: 'no' } });
    const failed = await settled((await order({ confirmation_code: code })).json.id);
    confirm = good;
    expect(failed.status).toBe('failed');
    expect(await everythingStored()).not.toContain('sealed_confirmation_code');
  });

  test.each(['123', 'x'.repeat(41), 'not secret', 'naïve'])(
    'is not repeated in its refusal: %s',
    async (wrong) => {
      const { status, json } = await order({ confirmation_code: wrong });
      const { doc_url: _port, request_id: _random, ...said } = json.error; // may have the same digits
      expect([status, said.param]).toEqual([400, 'confirmation_code']);
      expect(JSON.stringify(said)).not.toContain(wrong);
    },
  );

  test('makes the request differ, so the same key is refused', async () => {
    const body = { product_id: 'acme', confirmation_code: code };
    const first = await provision(service, 'code-key', body);
    expect((await provision(service, 'code-key', body)).text).toBe(first.text);
    const other = await provision(service, 'code-key', { ...body, confirmation_code: `${code}x` });
    expect(other.json.error.code).toBe('idempotency_key_reused');
  });
});

test('an order whose ICCID another eSIM got meanwhile fails, that eSIM stays, and other orders of the batch succeed', async () => {
  const ordinary = confirm;
  const other = await service.createAccount('Other');
  let taken: string | null = null;
  confirm = async (request) => {
    if (taken === null) {
      taken = request.iccid;
      await insertEsim(service, other.accountUuid, taken);
    }
    return ordinary(request);
  };
  try {
    const accepted = await Promise.all(Array.from({ length: 3 }, () => order({})));
    const done = await Promise.all(accepted.map(({ json }) => settled(json.id)));
    const failed = done.filter(({ status }) => status === 'failed');
    expect(failed.map(({ error }) => error.code)).toEqual(['outcome_unknown']);
    expect(done.filter(({ status }) => status === 'succeeded')).toHaveLength(2);
    const at = `/v1/esims/${taken}`;
    expect((await call(service, 'GET', at)).status).toBe(404);
    expect((await call({ ...service, key: other.key }, 'GET', at)).json).toMatchObject({ status: 'active' });
  } finally {
    confirm = ordinary;
  }
});

describe('the operator’s ICCID ranges', () => {
  test('give each order the next unused number, each number once, until none is left', async () => {
    const ranges = parseIccidRanges(
      '8988303000000000002-8988303000000000051,8988303000000000101-8988303000000000135',
    );
    if (!ranges) throw new Error('no ranges');
    expect(ranges.map(({ size }) => size)).toEqual([6, 4]);
    const own = await startService();
    try {
      // Two workers with an allotter each, like two processes.
      for (let i = 0; i < 2; i++) {
        own.startWorker(createMockNetwork({ delayMs: 0 }), {
          runners: createRunners(ranges),
          concurrency: 2,
        });
      }
      const taken = '8988303000000000028';
      await insertEsim(own, own.accountUuid, taken);
      const body = { product_id: 'prod_us_1gb_7d' };
      const accepted = await Promise.all(Array.from({ length: 14 }, () => order(body, own)));
      const done = await Promise.all(accepted.map(({ json }) => settled(json.id, own)));
      const numbers = done.flatMap(({ status, iccid }) => (status === 'succeeded' ? [iccid] : [])).sort();
      expect(numbers).toEqual([
        '8988303000000000002',
        '8988303000000000010',
        '8988303000000000036',
        '8988303000000000044',
        '8988303000000000051',
        '8988303000000000101',
        '8988303000000000119',
        '8988303000000000127',
        '8988303000000000135',
      ]);
      const failed = done.filter(({ status }) => status === 'failed');
      expect(failed).toHaveLength(5);
      for (const { error, iccid } of failed) {
        expect([error.code, iccid]).toEqual(['out_of_stock', null]);
        expect(error.message).toMatch(/ranges are used up\. (?!.*SIMPLANE_)/);
      }
      const events = await call(own, 'GET', '/v1/events?type=esim.provisioning_failed');
      expect(events.json.data).toHaveLength(5);
    } finally {
      await own.stop();
    }
  });
});
