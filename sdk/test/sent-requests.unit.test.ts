import { expect, test } from 'vitest';
import { createOperator, createSimplane, type HookRequest } from '../src/index.ts';

const sent: { url: string; body: unknown }[] = [];
const options = {
  apiKey: 'x',
  baseUrl: 'http://api.test',
  fetch: async (url: string, { body }: RequestInit) => {
    sent.push({ url, body });
    return Response.json({});
  },
};

test('a hook that changes what it was told does not change where the request goes', async () => {
  const onRequest = (info: HookRequest) => {
    info.url = 'http://elsewhere.test';
  };
  await createSimplane({ ...options, onRequest }).me();
  expect(sent.at(-1)?.url).toBe('http://api.test/v1/me');
});

test('an operator who asks for the own cell searches and counts in no other', async () => {
  const operator = createOperator(options);
  await operator.search('8999', { cells: 'own' });
  expect(sent.at(-1)?.url).toBe('http://api.test/v1/operator/search?q=8999&cells=own');
  await operator.overview({ cells: 'own' });
  expect(sent.at(-1)?.url).toBe('http://api.test/v1/operator/overview?cells=own');
});

test('a leaked signing secret ends when the caller says', async () => {
  await createSimplane(options).webhookEndpoints.rotateSecret('we_1', { expires_in: 0 });
  expect(sent.at(-1)?.body).toBe('{"expires_in":0}');
});

test('the error of a request that belongs to another cell names that cell', async () => {
  const error = { type: 'invalid_request_error', code: 'wrong_cell', message: 'Ask there.', cell: 'us' };
  const fetch = async () => Response.json({ error }, { status: 421 });
  const asked = createSimplane({ ...options, fetch }).me();
  await expect(asked).rejects.toMatchObject({ code: 'wrong_cell', cell: 'us' });
});

test.each([
  ['an operator', createOperator, 'http://api.test/v1/operator/events/feed?after=c1'],
  ['an account', createSimplane, 'http://api.test/v1/events/feed?after=c1'],
])('%s follows its own events', async (_, createClient, url) => {
  const events = createClient({ ...options, maxRetries: 0 }).events.follow({ after: 'c1' });
  await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow();
  expect(sent.at(-1)?.url).toBe(url);
});

test('a client without a key is refused before it sends anything', () => {
  expect(() => createSimplane({ ...options, apiKey: '' })).toThrow('An API key is required');
});

test('a client says which version of the API it was made for', async () => {
  const versions: (string | null)[] = [];
  const fetch = async (_: string, { headers }: RequestInit) => {
    versions.push(new Headers(headers).get('service-version'));
    return Response.json({});
  };
  await createSimplane({ ...options, fetch }).me();
  expect(versions).toEqual([expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)]);
});

test('a consumer that exists is run with its types in any order', async () => {
  const stop = new AbortController();
  const fetch = async (_: string, { method }: RequestInit) => {
    if (method !== 'PUT') stop.abort('enough');
    return Response.json({ name: 'c', type: ['my.b', 'my.a'], cursor: 'c0', data: [] });
  };
  const run = { type: ['my.a', 'my.b'], signal: stop.signal };
  await createSimplane({ ...options, fetch }).consumers.run('c', () => {}, run);
  expect(stop.signal.aborted).toBe(true);
});
