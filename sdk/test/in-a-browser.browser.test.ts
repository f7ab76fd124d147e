import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { launchBrowser } from '../../server/test/support/browser.ts';
import { until } from '../../server/test/support/until.ts';
import { blockOf, streamOf } from './support/scripted-server.ts';

const page = `<!doctype html><link rel="icon" href="data:,"><script type="module">
  import { createSimplane, webhooks } from '/dist/index.js';
  const body = '{"type":"esim.provisioned"}';
  const event = await webhooks.verify(body, await webhooks.sign(body, 'whsec_x'), 'whsec_x');
  const simplane = createSimplane({ apiKey: 'sp_test_page', baseUrl: location.origin });
  const { mode } = await simplane.me();
  const ids = [];
  for await (const { id } of simplane.events.follow({ after: 'c0' })) {
    if (ids.push(id) === 2) break;
  }
  document.title = [event.type, mode, ...ids].join(' ');
</script>`;

test('the SDK runs unmodified in a browser, with its fetch, streams and crypto', async () => {
  let left = false;
  const server = createServer((request, response) => {
    if (request.url === '/') return response.setHeader('content-type', 'text/html').end(page);
    if (request.url === '/v1/me') return response.end('{"mode":"sandbox"}');
    if (request.url === '/v1/events/feed?after=c0') {
      return streamOf(blockOf(1) + blockOf(2).slice(0, 40), 'break')(response, request);
    }
    if (request.url === '/v1/events/feed?after=c1') {
      response.on('close', () => {
        left = true;
      });
      return streamOf(blockOf(2))(response, request);
    }
    response.setHeader('content-type', 'text/javascript');
    return createReadStream(new URL(`..${request.url}`, import.meta.url)).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage();
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await tab.waitForFunction(() => document.title !== '');
    expect(await tab.title()).toBe('esim.provisioned sandbox evt_1 evt_2');
    await until(
      async () => left,
      (isLeft) => isLeft,
    );
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
});
