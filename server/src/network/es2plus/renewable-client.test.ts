import { expect, test } from 'vitest';
import { startFakeSmdp } from '../../../test/support/fake-smdp.ts';
import { createTls } from '../../../test/support/smdp-setup.ts';
import { createRenewableClient } from './renewable-client.ts';

test('a client that is closed ends the calls in progress, also those with certificates that were replaced', async () => {
  const tls = createTls();
  const smdp = await startFakeSmdp({ tls: tls.server });
  const isAsked = new Promise<void>((resolve) => {
    smdp.onCall(() => {
      resolve();
      return 'hang';
    });
  });
  const options = { url: smdp.url, tls: tls.client, protocolVersion: '2.2.0', connectTimeoutMs: 5_000 };
  const client = createRenewableClient(options);
  const body = JSON.stringify({ header: { functionCallIdentifier: 'x' }, iccid: '8999909000000000009' });
  const inProgress = client.post('/gsma/rsp2/es2plus/releaseProfile', body, {
    signal: AbortSignal.timeout(30_000),
    isFresh: false,
  });
  await isAsked;
  client.renew(tls.client);
  await client.close();
  expect(await inProgress).toMatchObject({ kind: 'unanswered', why: 'connection' });
  await smdp.stop();
});
