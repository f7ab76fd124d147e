import { webhooks } from '@simplane/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { signatureHeaders, signingKeysOf } from '../../server/src/notify/webhooks/sender/sign.ts';
import { call } from '../../server/test/support/client.ts';
import { type Receiver, startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { type Attempt, forward } from '../src/listen/forward.ts';
import { createSecret } from '../src/listen/sign.ts';
import { startRelay } from './support/relay.ts';
import { envOf, jsonLines, type Running, runCli, startCli } from './support/run-cli.ts';

let service: TestService;
let app: Receiver;
const started: Running[] = [];

// A deployment that cannot and may not send to this machine.
beforeAll(async () => {
  service = await startService({
    addressPolicy: { allowsHttp: false, allowsPrivate: false, allowedCidrs: [] },
  });
  service.startSequencer();
});
afterAll(() => service.stop());

beforeEach(async () => {
  app = await startReceiver();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.end('SIGKILL')));
  await app.stop();
});

async function listen(args: string[] = [], ready: string | RegExp = 'Ctrl-C', target = service.url) {
  const env = envOf({ url: target, key: service.key });
  const one = startCli(['listen', '--forward-to', `${app.url}/hooks?of=mine`, ...args], { env });
  started.push(one);
  await one.shows(ready);
  return one;
}

async function sendEvent(type = 'esim.provisioned', data: object = { iccid: '8999901000000000018' }) {
  const sent = await call(service, 'POST', '/v1/events/test', { body: { type, data } });
  return (sent.json as { id: string }).id;
}

function received(count: number) {
  return until(
    async () => app.received,
    ({ length }) => length >= count,
  );
}

const idsOf = (requests: Receiver['received']) => requests.map(({ body }) => JSON.parse(body).id);
const cursorIn = (text: string) => /--after (\S+)/.exec(text)?.[1] ?? '';

describe('listen', () => {
  it('forwards the same bytes with the headers of a delivery, signed with the printed secret', async () => {
    const listening = await listen();
    const [, secret = ''] = /Signing secret for your app: (whsec_\S+)/.exec(listening.stdout()) ?? [];
    const id = await sendEvent('esim.provisioned', { b: 1, a: 'Zürich → 東京', 7: [1e21, null] });

    const [got] = await received(1);
    const body = got?.body ?? '';
    const event = await webhooks.verify(body, String(got?.headers['service-signature']), secret);
    expect(event.id).toBe(id);
    const signed = signatureHeaders({
      eventId: id,
      body,
      atSeconds: Number(got?.headers['webhook-timestamp']),
      secrets: [signingKeysOf(secret)],
    });
    expect(got).toMatchObject({
      path: '/hooks?of=mine',
      body: (await call(service, 'GET', `/v1/events/${id}`)).text,
      headers: {
        'content-type': 'application/json',
        'user-agent': expect.stringMatching(/^Simplane\//),
        ...signed,
      },
    });
    await listening.shows(new RegExp(`\\d\\d:\\d\\d:\\d\\d  esim\\.provisioned  ${id}  → 200 in \\d+ ms`));
  });

  it('uses only connections from this machine to the service, and creates no endpoint', async () => {
    const relay = await startRelay(service.url);
    try {
      const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
      const listening = await listen(['--secret', secret], secret, relay.url);
      const id = await sendEvent();
      const [got] = await received(1);
      const event = await webhooks.verify(got?.body ?? '', String(got?.headers['service-signature']), secret);
      expect(event.id).toBe(id);
      expect(await listening.end('SIGINT')).toMatchObject({ code: 0 });
      const ofEndpoints = service.logLines.filter((line) => line.includes('webhook_endpoints'));
      expect(ofEndpoints).toEqual([]);
      expect((await call(service, 'GET', '/v1/webhook_endpoints')).json.data).toEqual([]);
    } finally {
      relay.stop();
    }
  });

  it('repeats an event that the app does not accept, in order, and says so', async () => {
    app.answer((response, _, count) => {
      if (count === 1) response.writeHead(302, { Location: `${app.url}/elsewhere` }).end();
      else if (count === 2) response.destroy();
      else response.end();
    });
    const listening = await listen();
    const first = await sendEvent();
    const second = await sendEvent();
    const requests = await received(4);
    expect(idsOf(requests)).toEqual([first, first, first, second]);
    expect(requests.map(({ path }) => path)).not.toContain('/elsewhere');
    expect(await listening.shows(new RegExp(`${second}  → 200`))).toMatch(
      /→ 302 in \d+ ms, next attempt in 1 s; later events wait[\s\S]*→ not reached: ECONNRESET, next attempt in 2 s/,
    );
  });

  it('gives an event up after the last attempt, so that the next ones are sent', async () => {
    app.answer((response) => response.writeHead(500).end());
    const attempts: Attempt[] = [];
    const event = (await call(service, 'GET', `/v1/events/${await sendEvent()}`)).json;
    const isDone = await forward(event, {
      target: new URL(app.url),
      secret: createSecret(),
      userAgent: 'test',
      signal: new AbortController().signal,
      onAttempt: (attempt) => attempts.push(attempt),
      retryDelaysMs: [0, 0],
    });
    expect(isDone).toBe(true);
    expect(attempts).toMatchObject([
      { number: 1, status: 500, retryInMs: 0 },
      { number: 2, status: 500, retryInMs: 0 },
      { number: 3, status: 500, retryInMs: null },
    ]);
    expect(idsOf(app.received)).toEqual([event.id, event.id, event.id]);
  });

  it('sends what happened since --since first, and continues from the cursor of the last event that is done', async () => {
    const earlier = [await sendEvent('esim.suspended'), await sendEvent('esim.resumed')];
    await sendEvent('bundle.depleted');
    const since = await listen(['--since', '1h', '--events', 'esim.suspended,esim.resumed']);
    expect(idsOf(await received(2)).slice(-2)).toEqual(earlier);
    await since.shows(new RegExp(`${earlier[1]}  → 200`));
    const before = app.received.length;
    app.answer(() => {}); // never
    const unfinished = await sendEvent('esim.suspended');
    await received(before + 1);
    const { code, stderr } = await since.end('SIGINT');
    expect(code).toBe(0);
    const later = await sendEvent('esim.resumed');
    app.answer((response) => response.end());
    await listen(['--after', cursorIn(stderr), '--events', 'esim.*']);
    expect(idsOf(await received(before + 3)).slice(-2)).toEqual([unfinished, later]);
  });

  it('with --json prints one document per line', async () => {
    const listening = await listen(['--events', 'bundle.*', '--json'], '"listening"');
    await sendEvent('esim.provisioned');
    const id = await sendEvent('bundle.depleted', { iccid: '1' });
    await listening.shows('"forward"');
    const { stdout } = await listening.end('SIGTERM');
    expect(jsonLines(stdout)).toEqual([
      {
        object: 'listening',
        secret: expect.stringMatching(/^whsec_/),
        enabled_event_types: ['bundle.*'],
        forward_to: `${app.url}/hooks?of=mine`,
      },
      {
        object: 'forward',
        event: expect.objectContaining({ id, type: 'bundle.depleted', data: { iccid: '1' } }),
        status: 200,
        duration_ms: expect.any(Number),
        error: null,
        attempt: 1,
        retry_in_ms: null,
      },
      { object: 'stopped', cursor: expect.any(String) },
    ]);
  });

  it('ends with 0 when its output is closed, and without --forward-to only prints', async () => {
    const printing = startCli(['listen'], { env: envOf(service) });
    started.push(printing);
    await printing.shows('Ctrl-C');
    await printing.shows(await sendEvent());
    expect(printing.stdout()).not.toContain('→');
    printing.stopReading();
    await sendEvent();
    expect(await printing.ended).toMatchObject({ code: 0 });
  });

  it('refuses an invalid target, secret or place, a wrong key and an unreachable service', async () => {
    const nowhere = { url: 'http://127.0.0.1:9', key: service.key };
    const results = await Promise.all([
      runCli(service, ['listen', '--forward-to', 'ftp://127.0.0.1']),
      runCli(service, ['listen', '--secret', 'not-a-secret']),
      runCli(service, ['listen', '--since', '1h', '--after', 'start']),
      runCli(service, ['listen', '--after', 'made-up']),
      runCli({ ...service, key: 'sp_test_wrong' }, ['listen']),
      runCli(nowhere, ['listen']),
    ]);
    expect(results).toMatchObject([
      { code: 2, stderr: expect.stringContaining('--forward-to') },
      { code: 2, stderr: expect.not.stringContaining('not-a-secret') },
      { code: 2, stderr: expect.stringContaining('either --since or --after') },
      { code: 1, stderr: expect.stringContaining('cursor_invalid') },
      { code: 4 },
      { code: 3 },
    ]);
  });
});
