import { ApiError, ConnectionError, type Execution, ExecutionFailedError } from '@simplane/sdk';
import { expect, test } from 'vitest';
import { exitCodes } from './exit-codes.ts';
import { explain } from './explain.ts';

const settings = {
  ...{ baseUrl: 'http://127.0.0.1:4000', baseUrlSource: 'the default' },
  ...{ apiKey: 'sp_test_1', keySource: '--api-key' },
};
const context = { group: 'esims', settings };

const answer = (status: number, code?: string) =>
  new ApiError({
    status,
    headers: new Headers(),
    body: code ? { error: { code, message: 'No.' } } : '<html>',
  });

test.each([
  [answer(401, 'api_key_invalid'), exitCodes.unauthorized],
  [answer(403, 'scope_missing'), exitCodes.unauthorized],
  [answer(404, 'resource_missing'), exitCodes.refused],
  [answer(500, 'internal'), exitCodes.unreachable],
  [answer(404), exitCodes.unreachable],
  [new ConnectionError('reset'), exitCodes.unreachable],
])('scripts tell a refusal, a wrong key and a lost service apart: %s is %i', async (error, exitCode) => {
  expect(await explain(error, context)).toMatchObject({ exitCode });
});

test('a command that may have taken effect is repeated with its key, and only such a one', async () => {
  const lost = (mayHaveTakenEffect: boolean) =>
    Object.assign(new ConnectionError('reset'), { mayHaveTakenEffect, idempotencyKey: 'key-1' });
  const repeated = await explain(lost(true), context);
  expect(repeated).toMatchObject({ idempotencyKey: 'key-1', nextStep: expect.stringContaining('key-1') });
  expect(JSON.stringify(await explain(lost(false), context))).not.toContain('key-1');
});

test('another order is advised only if it may succeed', async () => {
  const failed = (retryable: boolean) =>
    new ExecutionFailedError({ id: 'exec_1', error: { message: 'It failed.', retryable } } as Execution);
  expect((await explain(failed(true), context)).nextStep).toContain('A new order may succeed');
  expect((await explain(failed(false), context)).nextStep).toBeUndefined();
});
