import { webhooks } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { startReceiver } from '../../server/test/support/receiver.ts';
import { startService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { callTool } from './support/call.ts';
import { connectHttp } from './support/connect.ts';

test('following the prompt step by step delivers a signed esim.provisioned to the receiver', async () => {
  const service = await startService();
  const receiver = await startReceiver();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSender();
  const client = await connectHttp(service);
  try {
    const { messages } = await client.getPrompt({
      name: 'provision_esim_with_webhooks',
      arguments: { webhook_url: receiver.url },
    });
    const text = messages[0]?.content.type === 'text' ? messages[0].content.text : '';
    const steps = [...text.matchAll(/^\d\. (\w+)/gm)].map(([, name]) => name);
    expect(steps).toEqual(['create_webhook_endpoint', 'provision_esim', 'send_test_event', 'list_events']);
    // An agent knows only the text, so the arguments are taken from it.
    const [, url = ''] = /with url "([^"]+)"/.exec(text) ?? [];
    const [, product_id = ''] = /with product_id "([^"]+)"/.exec(text) ?? [];

    const endpoint = await callTool(client, 'create_webhook_endpoint', { url, enabled_event_types: ['*'] });
    const ordered = await callTool(client, 'provision_esim', { product_id });
    const done = await callTool(client, 'get_execution', { execution_id: ordered.id, wait_seconds: 30 });
    expect(done.status).toBe('succeeded');
    const { iccid } = done;
    const sent = await callTool(client, 'send_test_event', { type: 'esim.provisioned', data: { iccid } });
    const log = await callTool(client, 'list_events', {});
    const real = log.data.find(({ data }: { data: object }) => 'execution_id' in data);
    expect(real).toMatchObject({ type: 'esim.provisioned', data: { iccid, execution_id: ordered.id } });

    // The prompt asks for proof: each event has a delivery to this endpoint that the receiver accepted.
    expect(text).toMatch(/prove that the events arrived: call list_deliveries with the event_id of each/);
    for (const event of [real, sent]) {
      const deliveries = await until(
        () => callTool(client, 'list_deliveries', { event_id: event.id }),
        ({ data }) => data[0]?.status === 'succeeded',
      );
      expect(deliveries.data).toMatchObject([
        { event_id: event.id, webhook_endpoint_id: endpoint.id, attempts: [{ status_code: 200 }] },
      ]);
    }
    const toEndpoint = { webhook_endpoint_id: endpoint.id, status: 'succeeded' };
    expect((await callTool(client, 'list_deliveries', toEndpoint)).data).toHaveLength(2);
    const { webhook_endpoint_id } = toEndpoint;
    expect((await callTool(client, 'get_webhook_endpoint', { webhook_endpoint_id })).status).toBe('enabled');

    const { received } = receiver;
    const events = await Promise.all(
      received.map(({ headers, body }) =>
        webhooks.verify(body, String(headers['service-signature']), endpoint.secret),
      ),
    );
    expect(events).toHaveLength(2);
    expect(events).toEqual(expect.arrayContaining([real, sent]));
  } finally {
    await client.close();
    await service.stop();
    await receiver.stop();
  }
});
