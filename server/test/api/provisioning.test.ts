import { setTimeout as delay } from 'node:timers/promises';
import { type EsimStatus, esimStatuses, eventTypeNames } from '@simplane/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRunners } from '../../src/background/execution-runners.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network } from '../../src/network/port.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());

function get(path: string, target: { url: string; key: string } = service) {
  return call(target, 'GET', path).then(({ json }) => json);
}

function settled(executionId: string, target: { url: string; key: string } = service) {
  return until(
    () => get(`/v1/executions/${executionId}`, target),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function order(productId = 'prod_europe_5gb_30d', target: { url: string; key: string } = service) {
  const accepted = await provision(target, undefined, { product_id: productId });
  expect(accepted.status).toBe(202);
  return settled(accepted.json.id, target);
}

async function eventsOf(executionId: string, target: { url: string; key: string } = service) {
  const { data } = await get('/v1/events?limit=100', target);
  return data.filter((event: { data: { execution_id?: string } }) => event.data.execution_id === executionId);
}

describe('an order', () => {
  test('becomes an eSIM, an install profile, a queued bundle and one event', async () => {
    const body = { product_id: 'prod_europe_5gb_30d', metadata: { order_id: 'A-1' }, description: 'For Ada' };
    const accepted = await provision(service, 'whole', body);
    const execution = await settled(accepted.json.id);
    expect(execution).toMatchObject({ status: 'succeeded', attempts: 1, product_id: 'prod_europe_5gb_30d' });
    expect(execution.finished_at).toBeGreaterThanOrEqual(execution.created);
    const { iccid } = execution;

    const esim = await get(`/v1/esims/${iccid}`);
    expect(esim).toMatchObject({
      iccid,
      object: 'esim',
      status: 'provisioned',
      profile: { state: 'released' },
      metadata: { order_id: 'A-1' },
      description: 'For Ada',
      eid: null,
    });
    expect((await get('/v1/esims?limit=100')).data).toContainEqual(esim);
    expect(await get(`/v1/esims/${iccid}/install`)).toMatchObject({ object: 'install_profile', iccid });
    expect((await get(`/v1/esims/${iccid}/bundles`)).data).toMatchObject([
      {
        status: 'queued',
        used_bytes: 0,
        data_bytes: 5_000_000_000,
        thresholds: [50, 80, 100],
        activated_at: null,
      },
    ]);

    const events = await eventsOf(execution.id);
    expect(events).toHaveLength(1);
    expect(events[0]).toEqual({
      id: expect.stringMatching(/^evt_/),
      type: 'esim.provisioned',
      object: 'event',
      created: expect.any(Number),
      data: { iccid, execution_id: execution.id, product_id: 'prod_europe_5gb_30d' },
    });
    expect(await get(`/v1/events/${events[0].id}`)).toEqual(events[0]);
  });

  test('of every listed product succeeds', async () => {
    const { data } = await get('/v1/products?limit=100');
    const executions = await Promise.all(data.map(({ id }: { id: string }) => order(id)));
    expect(executions.map(({ status }) => status)).toEqual(data.map(() => 'succeeded'));
  });

  test('of a flaky product fails twice at the network, then succeeds with one eSIM and one event', async () => {
    const execution = await order('prod_sandbox_flaky');
    expect(execution).toMatchObject({ status: 'succeeded', attempts: 3 });
    expect(await eventsOf(execution.id)).toHaveLength(1);
  });

  test.each([
    ['prod_sandbox_declined', 'declined', '1.2'],
    ['prod_sandbox_out_of_stock', 'out_of_stock', '3.7'],
  ])(
    'of %s fails permanently, with cause, remedy and the network’s reason',
    async (productId, code, reason) => {
      const execution = await order(productId);
      expect(execution).toMatchObject({
        status: 'failed',
        attempts: 1,
        error: { code, retryable: false, upstream: { reason_code: reason } },
      });
      expect(execution.error.message).toMatch(/;.+(ask|order)/);
      const [event, ...others] = await eventsOf(execution.id);
      expect(others).toEqual([]);
      expect(event).toMatchObject({
        type: 'esim.provisioning_failed',
        data: { iccid: execution.iccid, error: { code } },
      });
      expect((await get(`/v1/esims/${execution.iccid}`)).status).toBe('failed');
      expect((await call(service, 'GET', `/v1/esims/${execution.iccid}/install`)).json.error.code).toBe(
        'esim_not_ready',
      );
    },
  );

  test('leaves no activation code in events, logs or lists', async () => {
    const execution = await order();
    const { matching_id: secret } = await get(`/v1/esims/${execution.iccid}/install`);
    const lists = await Promise.all(
      [
        '/v1/esims?limit=100',
        `/v1/esims/${execution.iccid}`,
        '/v1/events?limit=100',
        '/v1/executions?limit=100',
        `/v1/executions/${execution.id}`,
      ].map((path) => call(service, 'GET', path)),
    );
    expect(secret.length).toBeGreaterThan(10);
    expect(lists.map(({ text }) => text).join()).not.toContain(secret);
    expect(service.logLines.join()).not.toContain(secret);
  });

  test('of one account is invisible to another, like its eSIM and its events', async () => {
    const other = { url: service.url, key: (await service.createAccount('Stranger')).key };
    const execution = await order();
    const [event] = await eventsOf(execution.id);
    for (const path of [
      `/v1/executions/${execution.id}`,
      `/v1/esims/${execution.iccid}`,
      `/v1/esims/${execution.iccid}/install`,
      `/v1/esims/${execution.iccid}/bundles`,
      `/v1/events/${event.id}`,
    ]) {
      expect((await call(other, 'GET', path)).status).toBe(404);
    }
    expect((await get('/v1/esims', other)).data).toEqual([]);
    expect((await get('/v1/events', other)).data).toEqual([]);
    expect((await call(other, 'DELETE', `/v1/esims/${execution.iccid}`)).status).toBe(404);
  });
});

describe('the life of an eSIM', () => {
  const changes = {
    suspend: ['POST', '/suspend'],
    resume: ['POST', '/resume'],
    terminate: ['DELETE', ''],
  } as const;
  const legal: Record<keyof typeof changes, Partial<Record<EsimStatus, EsimStatus>>> = {
    suspend: { provisioned: 'suspended', active: 'suspended' },
    resume: { suspended: 'active' },
    terminate: {
      provisioning: 'terminated',
      provisioned: 'terminated',
      active: 'terminated',
      suspended: 'terminated',
      failed: 'terminated',
    },
  };
  const eventOf = { suspend: 'esim.suspended', resume: 'esim.resumed', terminate: 'esim.terminated' };
  const cases = Object.keys(changes).flatMap((change) =>
    esimStatuses.map((status) => [change as keyof typeof changes, status] as const),
  );

  async function esimIn(status: EsimStatus): Promise<string> {
    const { iccid } = await order();
    await service.db.query(
      {
        name: 'test_status',
        text: `update esims set status = $2, resumes_to = case when $2 = 'suspended' then 'active' end where iccid = $1`,
      },
      [iccid, status],
    );
    return iccid;
  }

  test.each(cases)('%s of a %s eSIM is accepted or refused as the state allows', async (change, status) => {
    const iccid = await esimIn(status);
    const [method, path] = changes[change];
    const reply = await call(service, method, `/v1/esims/${iccid}${path}`);
    const after = legal[change][status];
    if (after === undefined) {
      expect([reply.status, reply.json.error.code]).toEqual([409, 'state_conflict']);
      expect(reply.json.error.message).toContain(`is ${status}`);
      expect((await get(`/v1/esims/${iccid}`)).status).toBe(status);
      return;
    }
    expect(reply.status).toBe(202);
    expect(reply.json).toMatchObject({
      object: 'execution',
      type: `esim.${change}`,
      status: 'queued',
      iccid,
    });
    expect(await settled(reply.json.id)).toMatchObject({ status: 'succeeded' });
    expect((await get(`/v1/esims/${iccid}`)).status).toBe(after);
    const types = (await eventsOf(reply.json.id)).map(({ type }: { type: string }) => type);
    expect(types.filter((type: string) => type.startsWith('esim.'))).toEqual([eventOf[change]]);
  });

  test('returns to its previous status when it is resumed', async () => {
    const { iccid } = await order();
    for (const change of ['suspend', 'resume']) {
      const { json } = await call(service, 'POST', `/v1/esims/${iccid}/${change}`);
      await settled(json.id);
    }
    expect((await get(`/v1/esims/${iccid}`)).status).toBe('provisioned');
  });

  test('activates its next bundle when it is resumed to active, and the event names the execution', async () => {
    const iccid = await esimIn('suspended');
    const { json } = await call(service, 'POST', `/v1/esims/${iccid}/resume`);
    await settled(json.id);
    expect((await get(`/v1/esims/${iccid}/bundles`)).data).toMatchObject([{ status: 'active' }]);
    const types = (await eventsOf(json.id)).map(({ type }: { type: string }) => type);
    expect(types.toSorted()).toEqual(['bundle.activated', 'esim.resumed']);
  });

  test('ends with its bundles canceled and its install profile removed', async () => {
    const { iccid } = await order();
    const { json } = await call(service, 'DELETE', `/v1/esims/${iccid}`);
    await settled(json.id);
    expect((await get(`/v1/esims/${iccid}/bundles`)).data).toMatchObject([{ status: 'canceled' }]);
    expect((await call(service, 'GET', `/v1/esims/${iccid}/install`)).json.error.code).toBe('state_conflict');
    const types = (await get('/v1/events?type=bundle.canceled')).data.map(
      (event: { data: { iccid: string } }) => event.data.iccid,
    );
    expect(types).toContain(iccid);
  });

  test('two concurrent suspensions: one succeeds, the other conflicts, and there is one event', async () => {
    const { iccid } = await order();
    const accepted = await Promise.all([1, 2].map(() => call(service, 'POST', `/v1/esims/${iccid}/suspend`)));
    const started = accepted.filter(({ status }) => status === 202);
    const ends = await Promise.all(started.map(({ json }) => settled(json.id)));
    expect(ends.filter(({ status }) => status === 'succeeded')).toHaveLength(1);
    for (const { error } of ends.filter(({ status }) => status === 'failed'))
      expect(error.code).toBe('state_conflict');
    const { data } = await get('/v1/events?type=esim.suspended&limit=100');
    expect(data.filter((event: { data: { iccid: string } }) => event.data.iccid === iccid)).toHaveLength(1);
  });

  test('a top-up is an execution that adds a bundle', async () => {
    const { iccid } = await order();
    const body = { product_id: 'prod_us_1gb_7d', thresholds: [90, 10], any_region: true };
    const { status, json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
      body,
      idempotencyKey: `top-${iccid}`,
    });
    expect([status, json.type]).toEqual([202, 'bundle.add']);
    const price = { amount: 450, currency: 'eur' };
    expect(json.price).toEqual(price);
    expect(await settled(json.id)).toMatchObject({ status: 'succeeded', iccid, price });
    expect((await get(`/v1/esims/${iccid}/bundles`)).data).toMatchObject([
      { product_id: 'prod_us_1gb_7d', status: 'queued', thresholds: [10, 90], countries: ['US'], price },
      { product_id: 'prod_europe_5gb_30d', status: 'queued', price: { amount: 1600, currency: 'eur' } },
    ]);
    const elsewhere = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
      body: { product_id: 'prod_us_1gb_7d' },
    });
    expect([elsewhere.status, elsewhere.json.error.param]).toEqual([400, 'product_id']);
    expect(elsewhere.json.error.message).toContain('"any_region": true');
    const unknown = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
      body: { product_id: 'nope' },
    });
    expect([unknown.status, unknown.json.error.param]).toEqual([404, 'product_id']);
  });

  test('a top-up with a product that is no longer sold is refused', async () => {
    const { iccid } = await order();
    await service.db.pool.query(
      `insert into products select 'prod_ended', name, countries, data_bytes, validity_days, price_amount, price_currency,
       speeds, false, true, created_at from products where id = 'prod_us_1gb_7d'`,
    );
    const body = { product_id: 'prod_ended' };
    const { status, json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body });
    expect([status, json.error.code, json.error.param]).toEqual([409, 'state_conflict', 'product_id']);
    expect((await get(`/v1/esims/${iccid}/bundles`)).data).toHaveLength(1);
  });

  test.each([
    ['prod_sandbox_slow', 'succeeded', 1, null],
    ['prod_sandbox_flaky', 'succeeded', 3, null],
    ['prod_sandbox_declined', 'failed', 1, 'declined'],
    ['prod_sandbox_out_of_stock', 'failed', 1, 'out_of_stock'],
  ])('a top-up with %s misbehaves like an order for it', async (product, status, attempts, code) => {
    const { iccid } = await order();
    const { json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
      body: { product_id: product },
    });
    const ended = await settled(json.id);
    expect([ended.status, ended.attempts, ended.error?.code ?? null]).toEqual([status, attempts, code]);
    const products = (await get(`/v1/esims/${iccid}/bundles`)).data.map(
      (bundle: { product_id: string }) => bundle.product_id,
    );
    expect(products.includes(product)).toBe(status === 'succeeded');
  });

  test('a top-up of a terminated eSIM is refused, naming the state', async () => {
    const iccid = await esimIn('terminated');
    const reply = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, {
      body: { product_id: 'prod_us_1gb_7d' },
    });
    expect([reply.status, reply.json.error.code]).toEqual([409, 'state_conflict']);
    expect(reply.json.error.message).toContain('terminated');
  });
});

describe('a failing network', () => {
  const mock = createMockNetwork({ delayMs: 0 });

  async function withNetwork(
    network: Network,
    overrides: object,
    run: (service: TestService) => Promise<void>,
  ) {
    const own = await startService();
    try {
      own.startWorker(network, overrides);
      await run(own);
    } finally {
      await own.stop();
    }
  }

  test('that hangs is timed out, even if the driver ignores its signal', async () => {
    let calls = 0;
    const hanging: Network = {
      ...mock,
      order: (call) => (++calls === 1 ? new Promise(() => {}) : mock.order(call)),
    };
    await withNetwork(hanging, { networkTimeoutMs: 100 }, async (own) => {
      expect(await order('prod_us_1gb_7d', own)).toMatchObject({ status: 'succeeded', attempts: 2 });
      // By its own timeout: an attempt whose lease has ended counts no failure.
      const failures = "select progress -> 'failures' as count from executions";
      expect((await own.db.pool.query(failures)).rows).toEqual([{ count: 1 }]);
    });
  });

  test('that answers one call when the worker stops, and never the next, does not delay the stop', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const stubborn: Network = {
      ...mock,
      async order(call) {
        asked();
        await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
        return mock.order({ ...call, signal: new AbortController().signal });
      },
      confirm: () => new Promise(() => {}),
    };
    const own = await startService();
    try {
      const worker = own.startWorker(stubborn);
      const accepted = await provision(own);
      await isAsked;
      await worker.stop(0);
      const released = await get(`/v1/executions/${accepted.json.id}`, own);
      expect(released).toMatchObject({ status: 'queued', attempts: 0 });
      own.startWorker(mock);
      expect(await settled(accepted.json.id, own)).toMatchObject({ status: 'succeeded', attempts: 1 });
    } finally {
      await own.stop();
    }
  });

  test('gets no cancellation from a stale worker whose order another worker finished', async () => {
    let [confirmations, cancellations] = [0, 0];
    const recording: Network = {
      ...mock,
      confirm: async (call) =>
        ++confirmations === 1
          ? { kind: 'failed', reason: { code: 'network_unavailable', message: 'no answer' } }
          : mock.confirm(call),
      cancel: (call) => {
        cancellations += 1;
        return mock.cancel(call);
      },
    };
    let [openGate, isStaleDone] = [() => {}, false];
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const runners = createRunners();
    const { run } = runners['esim.provision'];
    // The second attempt pauses between its claim and its first step.
    const slow: typeof run = async (deps, execution) => {
      if (execution.attempts === 2) await gate;
      const outcome = await run(deps, execution);
      isStaleDone ||= execution.attempts === 2;
      return outcome;
    };
    const stale = { runners: { ...runners, 'esim.provision': { ...runners['esim.provision'], run: slow } } };
    await withNetwork(recording, { ...stale, leaseMs: 100, concurrency: 1 }, async (own) => {
      const accepted = await provision(own);
      await until(
        () => get(`/v1/executions/${accepted.json.id}`, own),
        ({ attempts }) => attempts === 2,
      );
      own.startWorker(recording);
      const { iccid, status } = await settled(accepted.json.id, own);
      expect(status).toBe('succeeded');
      openGate();
      await until(
        async () => isStaleDone,
        (is) => is,
      );
      expect(cancellations).toBe(0);
      expect(await get(`/v1/esims/${iccid}`, own)).toMatchObject({ status: 'provisioned' });
    });
  });

  test('that refuses an order and then does not answer gets the cancellation again, and no further step', async () => {
    let [confirmations, cancellations] = [0, 0];
    const wavering: Network = {
      ...mock,
      confirm: async (call) =>
        ++confirmations === 1
          ? { kind: 'refused', reason: { code: 'declined', message: 'Not this one.' } }
          : mock.confirm(call),
      cancel: async (call) =>
        ++cancellations === 1
          ? { kind: 'failed', reason: { code: 'network_unavailable', message: 'no answer' } }
          : mock.cancel(call),
    };
    await withNetwork(wavering, {}, async (own) => {
      const execution = await order('prod_us_1gb_7d', own);
      expect(execution).toMatchObject({ status: 'failed', error: { code: 'declined' } });
      expect([confirmations, cancellations]).toEqual([1, 2]);
      expect(await get(`/v1/esims/${execution.iccid}`, own)).toMatchObject({ status: 'failed' });
    });
  });

  test('that is down for a minute fails no order: the backlog drains when it is back', async () => {
    let isDown = true;
    const down: Network = {
      ...mock,
      order: async (call) =>
        isDown
          ? { kind: 'failed', reason: { code: 'network_unavailable', message: 'connection refused' } }
          : mock.order(call),
    };
    const { config } = readConfig({});
    const firstSeven = config.executionRetryScheduleMs.slice(0, 7);
    expect(firstSeven.reduce((sum, ms) => sum + ms)).toBeGreaterThan(60_000);
    // As many delays, each too long to wait for: the test moves due_at instead.
    const retryScheduleMs = config.executionRetryScheduleMs.map(() => 60_000);
    await withNetwork(down, { retryScheduleMs }, async (own) => {
      const accepted = await Promise.all(Array.from({ length: 40 }, () => provision(own)));
      for (let attempt = 1; attempt <= 7; attempt++) {
        await until(
          () =>
            own.db.query<{ failures: number | null }>({
              name: 'test_failures',
              text: `select (progress ->> 'failures')::int as failures from execution_queue`,
            }),
          (rows) => rows.length === 40 && rows.every((row) => row.failures === attempt),
        );
        if (attempt === 7) isDown = false;
        await own.db.query({ name: 'test_hurry', text: 'update execution_queue set due_at = now()' });
      }
      const ends = await Promise.all(accepted.map(({ json }) => settled(json.id, own)));
      expect(ends.map(({ status, attempts }) => [status, attempts])).toEqual(
        ends.map(() => ['succeeded', 8]),
      );
    });
  });

  test('that never comes back fails the order as retryable after the last attempt', async () => {
    const dead: Network = {
      ...mock,
      order: async () => ({
        kind: 'failed',
        reason: { code: 'network_unavailable', message: 'connection refused' },
      }),
    };
    await withNetwork(dead, { retryScheduleMs: [5, 5] }, async (own) => {
      const execution = await order('prod_us_1gb_7d', own);
      expect(execution).toMatchObject({
        status: 'failed',
        attempts: 3,
        error: { code: 'network_unavailable', retryable: true },
      });
      expect((await eventsOf(execution.id, own)).map(({ type }: { type: string }) => type)).toEqual([
        'esim.provisioning_failed',
      ]);
    });
  });

  test('whose driver always throws fails the order in the end, with an internal error', async () => {
    const broken: Network = { ...mock, order: () => Promise.reject(new TypeError('a bug')) };
    await withNetwork(broken, { retryScheduleMs: [] }, async (own) => {
      const accepted = await provision(own);
      // After its first fault it is postponed: due later, and held by nobody.
      await until(
        () =>
          own.db.query({
            name: 'test_postponed',
            text: 'select from execution_queue where attempts = 1 and due_at > now() and leased_until is null',
          }),
        (rows) => rows.length === 1,
      );
      await own.db.query({
        name: 'test_age',
        text: 'update execution_queue set attempts = 20, due_at = now()',
      });
      const execution = await settled(accepted.json.id, own);
      expect(execution).toMatchObject({ status: 'failed', error: { code: 'internal', retryable: true } });
      expect(execution.attempts).toBe(21);
    });
  });

  test('that refuses the second step gets a cancellation of the reservation', async () => {
    const canceled: string[] = [];
    const picky: Network = {
      ...mock,
      confirm: async () => ({
        kind: 'refused',
        reason: { code: 'declined', message: 'no; ask the operator' },
      }),
      cancel: async (request) => {
        canceled.push(request.iccid);
        return mock.cancel(request);
      },
    };
    await withNetwork(picky, {}, async (own) => {
      const execution = await order('prod_us_1gb_7d', own);
      expect(execution).toMatchObject({ status: 'failed', error: { code: 'declined' } });
      expect(canceled).toEqual([execution.iccid]);
    });
  });

  test('a second change of an eSIM is refused while the first is in progress, and names it', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Network = { ...mock, suspend: async (request) => held.then(() => mock.suspend(request)) };
    await withNetwork(slow, {}, async (own) => {
      const { iccid } = await order('prod_us_1gb_7d', own);
      const first = await call(own, 'POST', `/v1/esims/${iccid}/suspend`);
      const second = await call(own, 'POST', `/v1/esims/${iccid}/suspend`);
      expect([second.status, second.json.error.code]).toEqual([409, 'state_conflict']);
      expect(second.json.error.message).toContain(first.json.id);
      release();
      expect(await settled(first.json.id, own)).toMatchObject({ status: 'succeeded' });
    });
  });

  test('a termination during provisioning wins: the eSIM stays terminated', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: Network = { ...mock, confirm: async (call) => held.then(() => mock.confirm(call)) };
    const outcomes: string[] = [];
    const onOutcome = (type: string, outcome: string) => void outcomes.push(`${type} ${outcome}`);
    await withNetwork(slow, { onOutcome }, async (own) => {
      const accepted = await provision(own);
      const { iccid } = await until(
        () => get(`/v1/executions/${accepted.json.id}`, own),
        (execution) => execution.iccid !== null,
      );
      const termination = await call(own, 'DELETE', `/v1/esims/${iccid}`);
      expect(await settled(termination.json.id, own)).toMatchObject({ status: 'succeeded' });
      release();
      // At once, and not when the lease has ended.
      await until(
        async () => outcomes,
        ({ length }) => length === 2,
      );
      expect(outcomes).toEqual(['esim.terminate succeeded', 'esim.provision failed']);
      expect(await settled(accepted.json.id, own)).toMatchObject({
        status: 'failed',
        error: { code: 'state_conflict' },
      });
      expect((await get(`/v1/esims/${iccid}`, own)).status).toBe('terminated');
    });
  });
});

describe('the event log', () => {
  test('filters by type, family and time', async () => {
    const own = await startService();
    try {
      const publish = (type: string) =>
        call(own, 'POST', '/v1/events/test', { body: { type, data: { n: 1 } } });
      const first = await publish('esim.provisioned');
      await publish('bundle.expired');
      await delay(1_100);
      const last = await publish('esim.suspended');
      const typesOf = async (query: string) =>
        (await get(`/v1/events?${query}`, own)).data.map(({ type }: { type: string }) => type);
      expect(await typesOf('')).toEqual(['esim.suspended', 'bundle.expired', 'esim.provisioned']);
      expect(await typesOf('type=esim.*')).toEqual(['esim.suspended', 'esim.provisioned']);
      expect(await typesOf('type=bundle.expired')).toEqual(['bundle.expired']);
      expect(await typesOf(`created[gte]=${last.json.created}`)).toEqual(['esim.suspended']);
      expect(await typesOf(`created[lt]=${last.json.created}`)).toEqual([
        'bundle.expired',
        'esim.provisioned',
      ]);
      expect(await typesOf(`created[gte]=${first.json.created}&type=esim.*&limit=1`)).toEqual([
        'esim.suspended',
      ]);
    } finally {
      await own.stop();
    }
  });

  test('shows a test event as it was sent, with its data unchanged', async () => {
    const data = { iccid: '89', deep: [{ ключ: null, n: 1.5e10 }], '': '' };
    const { status, json } = await call(service, 'POST', '/v1/events/test', {
      body: { type: 'my.own_event.v2', data },
      idempotencyKey: 'test-event',
    });
    expect(status).toBe(202);
    expect(json).toEqual({
      id: json.id,
      type: 'my.own_event.v2',
      object: 'event',
      created: json.created,
      data,
    });
    expect(await get(`/v1/events/${json.id}`)).toEqual(json);
  });

  test('refuses test events in live mode', async () => {
    const live = await startService({ mode: 'live' });
    try {
      const reply = await call(live, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } });
      expect([reply.status, reply.json.error.code]).toEqual([403, 'sandbox_only']);
    } finally {
      await live.stop();
    }
  });

  test('lists its types', async () => {
    const { data, has_more: hasMore } = await get('/v1/event_types?limit=100');
    expect(data.map(({ type }: { type: string }) => type)).toEqual(eventTypeNames);
    expect(hasMore).toBe(false);
    const first = await get(`/v1/event_types?limit=${data.length - 1}`);
    const rest = await get(`/v1/event_types?starting_after=${first.next_cursor}`);
    expect([...first.data, ...rest.data]).toEqual(data);
  });
});
