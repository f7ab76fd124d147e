import { expect, test } from 'vitest';
import { startNetwork } from '../dist/deployment/network.js';
import type { History } from '../dist/history/history.js';
import { createRandom } from '../dist/random.js';

test('a refused order has reserved nothing, so the same order may be sent again', async () => {
  const history = { calls: [] } as unknown as History;
  const network = await startNetwork(history, createRandom(1, 'network'));
  network.heal();
  const order = {
    step: 'order',
    id: '019a0000-0000-7000-8000-000000000000.order',
    attempt: 1,
    worker: 'worker-1',
  };
  const send = async () =>
    (await fetch(network.url, { method: 'POST', body: JSON.stringify(order) })).json() as Promise<{
      kind: string;
    }>;
  network.onNextCall('order', (call) => {
    call.answer = 'refused';
  });
  const answers = [await send(), await send()];
  await network.stop();
  expect(answers.map(({ kind }) => kind)).toEqual(['refused', 'done']);
  expect(history.calls.map(({ iccid }) => iccid)).toEqual([null, expect.stringMatching(/^8999908/)]);
});
