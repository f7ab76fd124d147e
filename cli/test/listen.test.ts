import { hostname } from 'node:os';
import { webhooks } from '@simplane/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call } from '../../server/test/support/client.ts';
import { type Receiver, startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { startProxy } from './support/proxy.ts';
import { envOf, jsonLines, type Running, runCli, startCli } from './support/run-cli.ts';

let service: TestService;
let app: Receiver;
const started: Running[] = [];

beforeAll(async () => {
  service = await startService();
  service.startSender();
});
afterAll(() => service.stop());

beforeEach(async () => {
  app = await startReceiver();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.end('SIGKILL')));
  for (const { id } of await endpoints()) await call(service, 'DELETE', `/v1/webhook_endpoints/${id}`);
  await app.stop();
});

async function listen(args: string[] = [], ready: string | RegExp = 'Ctrl-C') {
  const one = startCli(['listen', '--forward-to', `${app.url}/hooks?of=mine`, ...args], {
    env: envOf(service),
  });
  started.push(one);
  await one.shows(ready);
  return one;
}

async function endpoints(): Promise<{ id: string; url: string; description: string }[]> {
  return (await call(service, 'GET', '/v1/webhook_endpoints?limit=100')).json.data;
}

async function sendEvent(type = 'esim.provisioned', data: object = { iccid: '8999901000000000018' }) {
  const sent = await call(service, 'POST', '/v1/events/test', { body: { type, data } });
  return sent.json as { id: string };
}

async function delivered(eventId: string) {
  const seen = await until(
    () => call(service, 'GET', `/v1/events/${eventId}/deliveries`),
    ({ json }) => json.data[0]?.attempts.length > 0 && json.data[0].status !== 'pending',
  );
  return seen.json.data[0];
}

describe('listen', () => {
  it('forwards the same bytes with a valid signature, and prints the app’s response', async () => {
    const listening = await listen();
    const [, secret = ''] = /Signing secret for your app: (whsec_\S+)/.exec(listening.stdout()) ?? [];
    const sentAtMs = performance.now();
    const { id } = await sendEvent('esim.provisioned', { note: 'Zürich → 東京' });

    const [got] = await until(
      async () => app.received,
      ({ length }) => length > 0,
    );
    console.info(`trigger to app: ${Math.round((got?.atMs ?? 0) - sentAtMs)} ms`);
    const event = await webhooks.verify(got?.body ?? '', String(got?.headers['service-signature']), secret);
    expect(event.id).toBe(id);
    expect(got).toMatchObject({
      path: '/hooks?of=mine',
      body: (await call(service, 'GET', `/v1/events/${id}`)).text,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Simplane/test',
        'webhook-id': id,
        'webhook-signature': expect.stringMatching(/^v1,/),
      },
    });
    await listening.shows(new RegExp(`\\d\\d:\\d\\d:\\d\\d  esim\\.provisioned  ${id}  → 200 in \\d+ ms`));
  });

  it('returns the app’s response to the service, so retries work as in production', async () => {
    app.answer((response, _, count) => {
      response.writeHead(count === 1 ? 500 : 201).end('response of the app');
    });
    const listening = await listen();
    const { id } = await sendEvent();
    expect(await delivered(id)).toMatchObject({
      status: 'succeeded',
      attempts: [{ status_code: 500, response: 'response of the app' }, { status_code: 201 }],
    });
    expect(await listening.shows('→ 201')).toContain('→ 500');
  });

  it('does not follow redirects, and reports an unreachable app', async () => {
    app.answer((response, _, count) => {
      if (count === 1) response.writeHead(302, { Location: `${app.url}/elsewhere` }).end();
      else if (count === 2) response.destroy();
      else response.end();
    });
    const listening = await listen();
    const { id } = await sendEvent();
    expect(await delivered(id)).toMatchObject({
      attempts: [{ status_code: 302 }, { status_code: 502 }, { status_code: 200 }],
    });
    expect(app.received.map(({ path }) => path)).not.toContain('/elsewhere');
    expect(await listening.shows('→ 200')).toMatch(/→ 302 in .*→ not reached: ECONNRESET/s);
  });

  it('never forwards a request that the service did not sign', async () => {
    const listening = await listen();
    const [{ url = '' } = {}] = await endpoints();
    const header = await webhooks.sign('{}', 'whsec_of-somebody-else');
    const forged = await fetch(url, { method: 'POST', body: '{}', headers: { 'Service-Signature': header } });
    const elsewhere = await fetch(new URL('/', url), { method: 'POST', body: '{}' });
    const huge = await fetch(url, { method: 'POST', body: 'x'.repeat(2_000_000) }).then(
      ({ status }) => status,
      () => 413, // it may close the connection before the whole body is sent
    );
    expect([forged.status, elsewhere.status, huge]).toEqual([400, 404, 413]);
    expect(app.received).toEqual([]);
    await until(
      async () => listening.stderr(),
      (text) => text.includes('failed signature verification'),
    );
  });

  it('reports when the service disables the endpoint after repeated failures', async () => {
    const strict = await startService();
    try {
      strict.startSender({ disableRule: { afterMs: 0, minFailures: 2 } });
      app.answer((response) => response.writeHead(503).end());
      const listening = startCli(['listen', '--forward-to', app.url], { env: envOf(strict) });
      started.push(listening);
      await listening.shows('Ctrl-C');
      await call(strict, 'POST', '/v1/events/test', { body: { type: 'esim.provisioned', data: {} } });
      const stderr = await until(
        async () => listening.stderr(),
        (text) => text.includes('simplane webhooks enable we_'),
      );
      expect(stderr).toContain('503');
      await listening.end('SIGINT');
    } finally {
      await strict.stop();
    }
  });

  it('subscribes to the requested types, and with --json prints one document per line', async () => {
    const listening = await listen(['--events', 'esim.suspended,bundle.*', '--json'], '"listening"');
    await sendEvent('esim.provisioned');
    const { id } = await sendEvent('bundle.depleted', { iccid: '1' });
    await listening.shows('"forward"');
    const { stdout } = await listening.end('SIGTERM');
    expect(jsonLines(stdout)).toEqual([
      {
        object: 'listening',
        webhook_endpoint_id: expect.stringMatching(/^we_/),
        secret: expect.stringMatching(/^whsec_/),
        enabled_event_types: ['esim.suspended', 'bundle.*'],
        forward_to: `${app.url}/hooks?of=mine`,
      },
      {
        object: 'forward',
        event: expect.objectContaining({ id, type: 'bundle.depleted', data: { iccid: '1' } }),
        status: 200,
        duration_ms: expect.any(Number),
        error: null,
      },
      { object: 'stopped', is_removed: true },
    ]);
  });
});

describe('stopping listen', () => {
  it('removes the endpoint on every signal', async () => {
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    const listening = await Promise.all(signals.map(() => listen()));
    const temporary = { description: expect.stringContaining('Temporary') };
    expect(await endpoints()).toMatchObject([temporary, temporary, temporary]);
    const ends = await Promise.all(signals.map((signal, index) => listening[index]?.end(signal)));
    const removed = { code: 0, stderr: expect.stringContaining('Removed the temporary endpoint') };
    expect(ends).toMatchObject([removed, removed, removed]);
    expect(await endpoints()).toEqual([]);
  });

  it('removes the endpoint when its output is closed, and when the app hangs', async () => {
    const [unread, hanging] = await Promise.all([listen(), listen()]);
    unread.stopReading();
    await sendEvent();
    expect(await unread.ended).toMatchObject({ code: 0 });
    await hanging.shows('→ 200');
    const before = app.received.length;
    app.answer(() => {}); // never
    await sendEvent();
    await until(
      async () => app.received.length,
      (count) => count > before,
    );
    await hanging.end('SIGINT');
    expect(await endpoints()).toEqual([]);
  });

  it('removes the endpoint when interrupted while creating it', async () => {
    const proxy = await startProxy(service.url);
    try {
      const held = proxy.hold('POST', '/v1/webhook_endpoints');
      const listening = startCli(['listen'], { env: envOf({ url: proxy.url, key: service.key }) });
      started.push(listening);
      await held.arrived; // the service has created the endpoint; the response is held back
      expect(await endpoints()).toHaveLength(1);
      const end = listening.end('SIGINT');
      held.release();
      expect((await end).code).toBe(0);
      expect(await endpoints()).toEqual([]);
    } finally {
      proxy.stop();
    }
  });

  it('removes the endpoint when every create response is lost', async () => {
    const proxy = await startProxy(service.url);
    try {
      proxy.cut('POST', '/v1/webhook_endpoints');
      const { code } = await startCli(['listen'], { env: envOf({ url: proxy.url, key: service.key }) }).ended;
      expect(code).toBe(3);
      expect(await endpoints()).toEqual([]);
    } finally {
      proxy.stop();
    }
  });

  it('names the cleanup command when the service is unreachable', async () => {
    const proxy = await startProxy(service.url);
    const listening = startCli(['listen'], { env: envOf({ url: proxy.url, key: service.key }) });
    started.push(listening);
    await listening.shows('Ctrl-C');
    const [{ id = '' } = {}] = await endpoints();
    proxy.stop();
    const { code, stderr } = await listening.end('SIGINT');
    expect(code).toBe(1);
    expect(stderr).toContain(`simplane webhooks delete ${id}`);
  });

  it('after SIGKILL, the next listen removes the endpoint and keeps those of running ones', async () => {
    const [killed, other] = await Promise.all([listen(), listen(['--events', 'esim.*'])]);
    const own = await call(service, 'POST', '/v1/webhook_endpoints', {
      body: {
        url: 'http://127.0.0.1:9/mine',
        enabled_event_types: ['*'],
        metadata: { simplane_listen: hostname() },
      },
    });
    await killed.end('SIGKILL');
    expect(await endpoints()).toHaveLength(3);
    const next = await listen(['--events', 'bundle.*']);
    expect(next.stderr()).toContain('Removed endpoints left by an earlier run: we_');
    const left = await endpoints();
    expect(left).toHaveLength(3);
    expect(left.map(({ id }) => id)).toContain(own.json.id);
    const { id } = await sendEvent('esim.suspended');
    await other.shows(id);
  });
});

describe('listen refuses', () => {
  it('a service that may not send to loopback, and names the required settings', async () => {
    const hosted = await startService({
      addressPolicy: { allowsHttp: true, allowsPrivate: false, allowedCidrs: [] },
    });
    try {
      const { code, stderr } = await runCli(hosted, ['listen', '--forward-to', '3000']);
      expect(code).toBe(1);
      expect(stderr).toContain('bound to loopback');
      expect(stderr).not.toContain('Removed the temporary endpoint');
    } finally {
      await hosted.stop();
    }
  });

  it('a service on another machine, and an invalid target', async () => {
    const away = { url: 'https://sandbox.example.com', key: service.key };
    const results = await Promise.all([
      runCli(away, ['listen']),
      runCli(service, ['listen', '--forward-to', 'ftp://127.0.0.1']),
    ]);
    expect(results).toMatchObject([
      { code: 2, stderr: expect.stringContaining('simplane webhooks create') },
      { code: 2, stderr: expect.stringContaining('--forward-to') },
    ]);
  });
});
