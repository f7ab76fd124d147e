import { operation } from '@simplane/contract';
import pg from 'pg';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import type { WriteContext } from '../../src/context.ts';
import { runOnce } from '../../src/idempotency/run-once.ts';
import { call, provision } from '../support/client.ts';
import { apiWith, startService } from '../support/service.ts';

const hang = operation({
  method: 'POST',
  path: '/v1/hang',
  tag: 'Probes',
  summary: 'A write',
  description: 'A write that holds its transaction open',
  scope: 'write',
  status: 200,
  response: Type.Object({}),
  refusals: [],
});

test('connections that are cut within transactions cost their requests a 503, and nothing else', async () => {
  let begun = 0;
  const handler = (ctx: WriteContext) =>
    runOnce(ctx, async (tx) => {
      begun += 1;
      // Half of them are cut while a statement runs, half while the transaction is idle.
      if (begun % 2 === 0) await tx.query({ name: 'test_sleep', text: 'select pg_sleep(30)' });
      else await new Promise((resolve) => setTimeout(resolve, 200));
      await tx.query({ name: 'test_one', text: 'select 1' });
      return ctx.render({});
    });
  const service = await startService({ api: apiWith({ operations: { hang }, handlers: { hang: handler } }) });
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    const running = Array.from({ length: 6 }, () => call(service, 'POST', '/v1/hang'));
    await expect.poll(() => begun).toBe(6);
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    );
    const replies = await Promise.all(running);
    expect(replies.map(({ status, json }) => [status, json.error.code])).toEqual(
      Array(6).fill([503, 'unavailable']),
    );
    expect((await provision(service)).status).toBe(202);
  } finally {
    await client.end();
    await service.stop();
  }
});
