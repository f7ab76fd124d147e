import { expect, test } from 'vitest';
import type { Context } from '../../accounts/context.ts';
import type { HandingOver } from './hand-over.ts';
import { sendTestEvent } from './send-test.ts';

const uuid = '0190a000-0000-7000-8000-000000000000';

/** Sends a test event with a key, where each statement finds of it what is given. */
async function send(...found: (string | null)[]) {
  const announced: unknown[] = [];
  const db = {
    async query() {
      const outcome = found.shift() ?? null;
      return outcome === null ? [] : [{ n: 1, outcome, event_id: null }];
    },
  };
  const ctx = {
    ...{ db, mode: 'sandbox', account: { uuid }, apiKey: { id: 'key_1', name: 'Key', scopes: [] } },
    newUuid: () => Buffer.alloc(16),
    ...{ requestId: null, ip: null },
    handOver: { announce: (committed: unknown) => announced.push(committed) },
  } as unknown as Context & HandingOver;
  const input = { params: {}, query: {}, body: { type: 'a.b', data: {} } };
  const claim = { key: 'k', fingerprint: '00', createdAt: new Date(0) };
  const render = ({ body }: { body: unknown }) => ({
    status: 202,
    body: JSON.stringify(body),
    location: null,
  });
  const write = { claim, render } as unknown as Parameters<typeof sendTestEvent.writeGrouped>[2];
  return { written: await sendTestEvent.writeGrouped(ctx, input, write), announced, left: found.length };
}

test('a test event whose key another request has just used is looked up again, until it is known what became of it', async () => {
  expect(await send('overtaken', 'overtaken', 'in_progress', null)).toEqual({
    ...{ written: { kind: 'in_progress' }, announced: [], left: 1 },
  });
  const sent = await send('overtaken', null);
  expect(sent).toMatchObject({ written: { kind: 'answered', replayed: false }, left: 0 });
  expect(sent.announced).toHaveLength(1);
});
