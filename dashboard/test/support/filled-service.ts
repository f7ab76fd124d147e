import { createMockNetwork } from '../../../server/src/network/mock/mock-network.ts';
import { call } from '../../../server/test/support/client.ts';
import { startReceiver } from '../../../server/test/support/receiver.ts';
import { startService } from '../../../server/test/support/service.ts';
import { until } from '../../../server/test/support/until.ts';

/** Everything a tenant or a receiver can put into a text that the page shows. */
export const hostile = `<img src=x onerror="alert('x')"><script>alert('x')</script>"'><svg onload=alert(1)>`;

export type Screen = [path: string, heading: string | RegExp];

/** A service whose account has one of everything, in the words of someone who means harm, and an endpoint that fails. */
export async function startFilledService() {
  const [service, receiver] = await Promise.all([
    startService({ requestLogLevel: 'errors' }),
    startReceiver(),
  ]);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSequencer();
  service.startSender({ retryScheduleMs: [3_600_000] });
  receiver.answer((response) => {
    response.statusCode = 500;
    response.end(hostile);
  });
  const endpoint = await call(service, 'POST', '/v1/webhook_endpoints', {
    body: {
      url: `${receiver.url}/?q=${encodeURIComponent(hostile)}`,
      enabled_event_types: ['*'],
      description: hostile,
    },
  });
  const order = await call(service, 'POST', '/v1/esims', {
    idempotencyKey: 'order-4711',
    body: {
      product_id: 'prod_europe_5gb_30d',
      reference: hostile.slice(0, 100),
      metadata: { note: hostile },
      description: hostile,
    },
  });
  const done = await until(
    () => call(service, 'GET', `/v1/executions/${order.json.id}`),
    ({ json }) => json.status === 'succeeded',
  );
  const declined = await call(service, 'POST', '/v1/esims', {
    body: { product_id: 'prod_sandbox_declined' },
  });
  const failed = await until(
    () => call(service, 'GET', `/v1/executions/${declined.json.id}`),
    ({ json }) => json.status === 'failed',
  );
  const event = await call(service, 'POST', '/v1/events/test', {
    body: { type: 'test.hostile', data: { text: hostile, iccid: hostile, execution_id: hostile } },
  });
  const deliveries = await until(
    () => call(service, 'GET', `/v1/events/${event.json.id}/deliveries`),
    ({ json }) => json.data[0]?.attempts.length > 0,
  );
  await call(service, 'PUT', '/v1/event_consumers/billing', { body: { after: 'start' } });
  const bundles = await call(service, 'GET', `/v1/esims/${done.json.iccid}/bundles`);
  await service.db.query(
    {
      name: 'test_core_queue',
      text: `insert into core_queue (account_id, iccid, id, version, service, since, due_at, is_refused, error)
        select $1, iccid, gen_random_uuid(), 1, given.service, now(), now(), status = 'provisioned', jsonb_build_object('message', $2::text)
        from esims, (values ('{"state": "throttled", "reason": "depleted", "kbps": 128, "bundle_id": null, "until": null}'::jsonb)) as given (service)`,
    },
    [service.accountUuid, hostile],
  );
  const refused = await call(service, 'GET', '/v1/products/prod_none');
  const requestId = refused.headers.get('request-id') as string;
  await until(
    () => call(service, 'GET', `/v1/requests/${requestId}`),
    ({ status }) => status === 200,
  );
  const ids = {
    iccid: done.json.iccid as string,
    failedIccid: failed.json.iccid as string,
    event: event.json.id as string,
    delivery: deliveries.json.data[0].id as string,
    bundle: bundles.json.data[0].id as string,
    endpoint: endpoint.json.id as string,
    execution: order.json.id as string,
    failedExecution: declined.json.id as string,
    request: requestId,
  };
  return {
    service,
    ids,
    accountScreens: accountScreensOf(ids),
    operatorScreens: operatorScreensOf(ids),
    async stop() {
      await service.stop();
      await receiver.stop();
    },
  };
}

type Ids = { [name: string]: string };

function accountScreensOf(ids: Ids): Screen[] {
  return [
    ['/', 'Home'],
    ['/esims', 'Orders & eSIMs'],
    ['/esims?view=orders', 'Orders & eSIMs'],
    [`/esims/${ids['iccid']}`, new RegExp(ids['iccid'] ?? '')],
    [`/esims/${ids['failedIccid']}`, new RegExp(ids['failedIccid'] ?? '')],
    [`/executions/${ids['execution']}`, /exec_/],
    [`/executions/${ids['failedExecution']}`, /exec_/],
    ['/events', 'Events'],
    [`/events/${ids['event']}`, /test.hostile|evt_/],
    ['/webhooks', 'Webhooks'],
    [`/webhooks/${ids['endpoint']}`, /127\.0\.0\.1|we_/],
    ['/catalog', 'Catalog'],
    ['/branding', 'Install page'],
    ['/consumers', 'Consumers'],
    ['/keys', 'API keys'],
    ['/requests', 'Request log'],
    [`/requests/${ids['request']}`, /prod_none|req_/],
    ['/audit', 'Audit log'],
  ];
}

function operatorScreensOf(ids: Ids): Screen[] {
  return [
    ['/', 'Overview'],
    ['/accounts', 'Accounts'],
    ['/executions', 'Orders'],
    [`/executions/${ids['failedExecution']}`, /exec_/],
    ['/endpoints', 'Endpoints'],
    ['/networks', 'Networks & stock'],
    ['/processes', 'Processes'],
    ['/products', 'Catalog'],
    ['/audit', 'Audit log'],
  ];
}
