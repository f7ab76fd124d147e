import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCatalog } from '../../src/accounts/products/import-catalog.ts';
import { createObservationHandler } from '../../src/orders/observations/handle-observation.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { type Mischief, newIccid, type SmdpCall } from '../support/fake-smdp.ts';
import { downloadFailure } from '../support/profile-failure.ts';
import { startService, type TestService } from '../support/service.ts';
import { type SmdpSetup, startSmdpSetup } from '../support/smdp-setup.ts';
import { until } from '../support/until.ts';

const product = {
  name: 'Europe 5 GB',
  countries: ['DE'],
  data_bytes: 5_000_000_000,
  validity_days: 30,
  price: { amount: 999, currency: 'eur' },
  speeds: ['4G'],
  active: true,
  listed: true,
};

let service: TestService;
let setup: SmdpSetup;
let lax: ReturnType<TestService['startWorker']>;
beforeAll(async () => {
  setup = await startSmdpSetup({ padsIccids: true }, { iccids: 'theirs', padsIccids: true });
  service = await startService({ mode: 'live' });
  lax = service.startWorker(setup.network, { retryScheduleMs: [5, 5, 5] });
});
afterAll(async () => {
  await service.stop();
  await setup.stop();
});

let count = 0;

/** Orders a product of its own, for which the SM-DP+ has one profile with this ICCID. */
async function order(
  iccid: string,
  mischief: (made: SmdpCall, times: number) => Mischief | undefined = () => undefined,
) {
  const productId = `product-${count++}`;
  await importCatalog(service.db, service.service, [{ ...product, id: productId }] as never);
  const profile = { iccid, profileType: productId, reservations: 0, matchingId: null, eid: null };
  setup.smdp.profiles.set(iccid, { ...profile, state: 'Available' });
  const seen = new Map<string, number>();
  setup.smdp.calls.length = 0;
  setup.smdp.onCall((made) => {
    seen.set(made.name, (seen.get(made.name) ?? 0) + 1);
    return mischief(made, seen.get(made.name) as number);
  });
  return finished(await provision(service, undefined, { product_id: productId }));
}

async function finished({ json }: Reply) {
  const look = async () => (await call(service, 'GET', `/v1/executions/${json.id}`)).json;
  return until(look, ({ status }) => status === 'succeeded' || status === 'failed');
}

/** Makes the first worker's writes to the order fail under this condition. */
async function failFirstWorker(condition: string, run: () => Promise<void>) {
  const statements = [
    `
create or replace function fail_on_purpose() returns trigger language plpgsql as $$
begin
  raise exception 'failed on purpose';
end $$`,
    `
create or replace trigger fail_on_purpose
before update on execution_queue
for each row
when (new.fence = 1 and new.leased_until is not null and ${condition})
execute function fail_on_purpose()`,
  ];
  for (const text of statements) await service.db.query({ name: `test_${text.length}`, text });
  service.logLines.length = 0;
  await run();
  expect(service.logLines.join()).toContain('exec_stmt_raise');
  await service.db.query({
    name: 'test_no_trigger',
    text: 'drop trigger fail_on_purpose on execution_queue',
  });
}

const strandedLines = (executionId: string) =>
  service.logLines.filter(
    (line) => line.includes('may have reserved a profile') && line.includes(executionId),
  );

const names = () => setup.smdp.calls.map(({ name }) => name);

describe('an ICCID that the SM-DP+ assigns', () => {
  test.each([
    ['with a wrong check digit', '8999909000000000000'],
    ['of 18 digits', '899990900000000017'],
    ['of 20 digits', '89999090000000000175'],
    ['of another industry than telecom', '0123456789012345678'],
  ])('%s is stored as given, and works everywhere', async (_, iccid) => {
    const execution = await order(iccid);
    expect(execution).toMatchObject({ status: 'succeeded', iccid });
    expect(setup.smdp.profiles.get(iccid)).toMatchObject({ state: 'Released', reservations: 1 });
    expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json).toMatchObject({ iccid });
    expect((await call(service, 'GET', `/v1/esims/${iccid}/install`)).json).toMatchObject({ iccid });
    const [newest] = (await call(service, 'GET', '/v1/esims?limit=1')).json.data;
    expect(newest.iccid).toBe(iccid);
    const records = [{ record_id: 'r-1', iccid, bytes: 5, at: Math.floor(Date.now() / 1000) }];
    const used = await call(service, 'POST', '/v1/usage_records', { body: { records } });
    expect(used.json).toMatchObject({ accepted: 1, rejected: 0 });
    const failed = { state: 'error', failure: downloadFailure } as const;
    const seen = { iccid, kind: 'profile', at: new Date(), ...failed } as const;
    expect(await createObservationHandler(service.service)(seen)).toBe(true);
    const ended = await finished(await call(service, 'DELETE', `/v1/esims/${iccid}`));
    expect(ended).toMatchObject({ status: 'succeeded' });
    expect(setup.smdp.profiles.get(iccid)?.state).toBe('Unavailable');
  });
});

describe('an answer that cannot be used', () => {
  const other = newIccid(500);
  beforeAll(async () => {
    expect(await order(other)).toMatchObject({ status: 'succeeded' });
  });

  test.each<[string, string, object, string]>([
    ['half an ICCID', newIccid(501), { iccid: '8999909' }, '8999909'],
    ['a number', newIccid(502), { iccid: 8_999_909_000_000_000_000 }, '8999909000000000000 (rounded'],
    ['no status', newIccid(503), { header: {} }, newIccid(503)],
    ['the ICCID of another eSIM', newIccid(504), { iccid: other }, other],
  ])('(%s) is kept with its call id in the execution and the log, and nothing is canceled', async (...of) => {
    const [, reserved, answer, kept] = of;
    const execution = await order(reserved, () => ({ answer }));
    const upstream = {
      iccid: expect.stringContaining(kept),
      function_call_identifier: setup.smdp.calls[0]?.callId,
    };
    expect(execution).toMatchObject({
      status: 'failed',
      iccid: null,
      error: { code: 'outcome_unknown', message: expect.stringContaining(kept), upstream },
    });
    const [line] = strandedLines(execution.id);
    expect(JSON.parse(line as string)).toMatchObject(upstream);
    expect(names()).toEqual(['downloadOrder']);
    expect(setup.smdp.profiles.get(other)?.state).toBe('Released');
  });
});

describe('with SIMPLANE_ES2_ICCID_CHECK=luhn', () => {
  beforeAll(async () => {
    await lax.stop(1_000);
    service.startWorker(setup.networkWith({ requiresCheckDigit: true }), { retryScheduleMs: [5, 5, 5] });
  });

  test('a valid ICCID succeeds', async () => {
    expect(await order(newIccid(900))).toMatchObject({ status: 'succeeded', iccid: newIccid(900) });
  });

  test.each<[string, Mischief | undefined]>([
    ['', undefined],
    [', also after its answer was lost', 'lose'],
  ])(
    'another one fails the order, and its profile is canceled and never confirmed%s',
    async (title, mischief) => {
      const iccid = title === '' ? '8999909000000009007' : '8999909000000009006';
      const execution = await order(iccid, ({ name }, times) =>
        name === 'cancelOrder' && times === 1 ? mischief : undefined,
      );
      expect(execution).toMatchObject({
        status: 'failed',
        iccid,
        error: {
          code: 'declined',
          message: expect.stringMatching(/is being canceled\. Ask the operator (?!.*SIMPLANE_)/),
          upstream: {
            iccid,
            function: 'downloadOrder',
            function_call_identifier: setup.smdp.calls[0]?.callId,
          },
        },
      });
      expect(names()).not.toContain('confirmOrder');
      expect(setup.smdp.profiles.get(iccid)).toMatchObject({ state: 'Unavailable', reservations: 1 });
      expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json.status).toBe('failed');
    },
  );

  test('a worker that fails before it stored the ICCID leaves an order that is not sent again', () =>
    failFirstWorker(`new.progress ? 'verdict'`, async () => {
      const iccid = '8999909000000009005';
      expect(await order(iccid)).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown' } });
      expect(names()).toEqual(['downloadOrder']);
    }));

  test('a worker that fails right after it stored the ICCID leaves nothing to confirm', () =>
    failFirstWorker(`old.progress ? 'is_ordered' and new.progress ? 'verdict'`, async () => {
      const iccid = '8999909000000009004';
      expect(await order(iccid)).toMatchObject({ status: 'failed', iccid, error: { code: 'declined' } });
      expect(names()).not.toContain('confirmOrder');
      expect(setup.smdp.profiles.get(iccid)?.state).toBe('Unavailable');
    }));

  test('the profile stays on the books if the SM-DP+ refuses to cancel it, and DELETE tries again', async () => {
    const iccid = '8999909000000009003';
    const execution = await order(iccid, ({ name }) =>
      name === 'cancelOrder' ? { code: '8.2.1/1.2' } : undefined,
    );
    expect(execution).toMatchObject({ status: 'failed', iccid });
    expect(setup.smdp.profiles.get(iccid)?.state).toBe('Allocated');
    expect(strandedLines(execution.id)).toHaveLength(1);
    setup.smdp.onCall(() => undefined);
    await finished(await call(service, 'DELETE', `/v1/esims/${iccid}`));
    expect(setup.smdp.profiles.get(iccid)?.state).toBe('Unavailable');
  });
});
