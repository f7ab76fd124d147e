import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

let service: TestService;
let operatorKey: string;
beforeAll(async () => {
  service = await startService();
  operatorKey = await service.createKey({ scopes: ['operator'] });
});
afterAll(() => service.stop());

const key = { name: 'Shop', scopes: ['read'] };
const endpoint = { url: 'https://receiver.example/hooks', enabled_event_types: ['*'] };
const order = { product_id: 'prod_europe_5gb_30d' };

type Field = [what: string, path: string, body: Record<string, unknown>, field: string];
const names: Field[] = [
  ['a key’s name', '/v1/api_keys', key, 'name'],
  ['an account’s name', '/v1/operator/accounts', { name: 'Acme' }, 'name'],
  ['an endpoint’s URL', '/v1/webhook_endpoints', endpoint, 'url'],
];
const notes: Field[] = [
  ['an endpoint’s description', '/v1/webhook_endpoints', endpoint, 'description'],
  ['an eSIM’s description', '/v1/esims', order, 'description'],
];

function post(path: string, body: object) {
  const isOperators = path.startsWith('/v1/operator/');
  return call(service, 'POST', path, { body, ...(isOperators && { key: operatorKey }) });
}

const dangerous: [string, string][] = [
  ['an escape', '\u001b[2J'],
  ['a bell', '\u0007'],
  ['DEL', '\u007f'],
  ['a C1 control', '\u009b2J'],
  ['a bidi override', '\u202e'],
  ['a bidi isolate', '\u2067'],
];

describe.each(names)('%s', (_, path, body, field) => {
  test.each([...dangerous, ['a tab', '\t'], ['a line break', '\n']])(
    'is refused with %s',
    async (_, text) => {
      const { status, json } = await post(path, { ...body, [field]: `${body[field]}${text}x` });
      expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', field]);
      expect(json.error.message).toContain(
        `${field} must not contain control characters, such as tabs and line breaks; got `,
      );
    },
  );
});

describe.each(notes)('%s', (_, path, body, field) => {
  test.each(dangerous)('is refused with %s', async (_, text) => {
    const { status, json } = await post(path, { ...body, [field]: `a${text}b` });
    expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', field]);
    expect(json.error.message).toContain(
      'must not contain control characters other than tabs and line breaks',
    );
  });

  test('may have tabs and line breaks', async () => {
    expect((await post(path, { ...body, [field]: 'one\ttwo\r\nthree' })).status).toBeLessThan(300);
  });
});

test('names in any script are taken, with marks and joiners', async () => {
  for (const name of ['Zoë', '北京', 'مرحبا\u200f!', '👩‍🚀', 'नमस्ते\u200d']) {
    const { status, json } = await post('/v1/api_keys', { ...key, name });
    expect([status, json.name]).toEqual([201, name]);
  }
});

test('what was stored before is still read', async () => {
  const { json } = await post('/v1/api_keys', key);
  const name = 'old\u001b[2J';
  const text = 'update api_keys set name = $2 where account_id = $1 and last4 = $3';
  await service.db.query({ name: 'test_rename', text }, [service.accountUuid, name, json.last4]);
  expect((await call(service, 'GET', `/v1/api_keys/${json.id}`)).json.name).toBe(name);
});
