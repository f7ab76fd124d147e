import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, request as forward, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser } from '../support/browser.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let proxy: Server;
let browser: Browser;
let curl: ChildProcess | undefined;

beforeAll(async () => {
  service = await startService();
  service.startSequencer();
  proxy = createServer(passOn);
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  browser = await launchBrowser();
});
afterAll(async () => {
  curl?.kill('SIGKILL');
  await browser.close();
  proxy.closeAllConnections();
  proxy.close();
  await service.stop();
});

const path = '/v1/events/feed?after=start';

/** Follows the stream and resumes it, as a page without the SDK would. */
const page = (key: string) => `<!doctype html><link rel="icon" href="data:,"><script type="module">
  window.streamed = [];
  let lastId = '';
  for (;;) {
    try {
      const headers = { Authorization: 'Bearer ${key}', Accept: 'text/event-stream', 'Last-Event-ID': lastId };
      const response = await fetch('${path}', { headers });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ''; ; ) {
        const { value, done } = await reader.read();
        if (done) break;
        const frames = (text + value).split('\\n\\n');
        text = frames.pop();
        for (const frame of frames) {
          lastId = frame.match(/^id: (.*)$/m)?.[1] ?? lastId;
          window.streamed.push(frame);
        }
      }
    } catch {}
  }
</script>`;

/** A proxy that buffers nothing: the page and the API have one origin, because the API is not meant for pages of other origins. */
const passOn: Parameters<typeof createServer>[1] = (request, response) => {
  if (request.url === '/') return response.setHeader('content-type', 'text/html').end(page(service.key));
  const { method, headers } = request;
  const upstream = forward(new URL(request.url ?? '', service.url), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders();
    answer.pipe(response);
  });
  response.on('close', () => upstream.destroy());
  upstream.on('error', () => response.destroy());
  return upstream.end();
};

test('curl and a browser’s fetch get the same bytes of the stream, also across cut connections', async () => {
  await publish(3);
  const tab = await browser.newPage();
  await tab.goto(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`);
  const inBrowser = async () => eventsIn(await tab.evaluate<string[]>('window.streamed'));
  const inCurl = startCurl();

  const bothHave = (count: number) =>
    until(
      async () => [await inBrowser(), inCurl()],
      (seen) => seen.every((frames) => frames.length >= count),
    );

  await bothHave(3);
  await publish(3);
  await bothHave(6);
  proxy.closeAllConnections();
  await publish(3);
  await bothHave(9);

  const { text } = await call(service, 'GET', path);
  const bodies = inCurl().map((frame) => frame.match(/^data: (.*)$/m)?.[1] ?? '');
  expect(text).toContain(`"data":[${bodies.join(',')}]`);
  expect(await inBrowser()).toEqual(inCurl());
});

async function publish(count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const body = { type: 'a.b', data: { number, note: 'Zürich → 東京' } };
    expect((await call(service, 'POST', '/v1/events/test', { body })).status).toBe(202);
  }
}

/** Returns the events that curl has printed so far. */
function startCurl(): () => string[] {
  const headers = [`Authorization: Bearer ${service.key}`, 'Accept: text/event-stream'];
  const args = ['-sN', '--max-time', '100', service.url + path, ...headers.flatMap((line) => ['-H', line])];
  curl = spawn('curl', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  curl.stdout?.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
  return () => eventsIn(printed.split('\n\n').slice(0, -1));
}

function eventsIn(frames: string[]): string[] {
  return frames.filter((frame) => /^data: /m.test(frame));
}
