import { expect, test } from 'vitest';
import { endpoints } from '../src/generated.ts';
import { createOperator, createSimplane, type SimplaneOptions } from '../src/index.ts';

/** Takes any arguments, as the functions of the clients do. */
type Call = (...args: unknown[]) => unknown;

/** In place of a second argument that is an object for nearly all. */
const seconds: Record<string, string> = {
  'bundles.cancel': 'x2',
  'esims.revokeInstallLink': 'x2',
  'operator.accounts.revokeApiKey': 'x2',
  'batches.installProfilesFile': 'csv',
};
const places = ['first', 'second', 'third'];
const [first, second, third] = places.map((given) => ({ given, idempotencyKey: given }));

const sent: string[] = [];
let asked = new Set<string>();
const answer = {
  ...{ object: 'list', data: [], has_more: false, id: 'x', iccid: 'x', status: 'succeeded', open: 0 },
};
const options: SimplaneOptions = {
  apiKey: 'sp_test_recorded',
  baseUrl: 'http://api.test',
  fetch: async (url, { method, headers: given, body }) => {
    const headers = new Headers(given);
    const { pathname, search } = new URL(url);
    asked.add(`${method} ${pathname}`);
    const key = headers.get('Idempotency-Key');
    const account = headers.get('Service-Account');
    sent.push(
      [
        `${method} ${pathname}${search}`,
        ...(body ? [body] : []),
        ...(key === null ? [] : [`key: ${places.includes(key) ? key : 'random'}`]),
        ...(account === null ? [] : [`account: ${account}`]),
      ].join('  '),
    );
    const type = url.endsWith('?format=csv') ? 'text/csv' : (headers.get('accept') ?? '');
    return new Response(JSON.stringify(answer), { headers: { 'content-type': type } });
  },
};

/** What each function of a client sends. Those that do not take the id of something get an object instead. */
async function sentBy(part: object, path: string): Promise<string[]> {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(part)) {
    const its = path === '' ? name : `${path}.${name}`;
    if (typeof value === 'object') lines.push(...(await sentBy(value, its)));
    else {
      for (const argument of ['x', first]) {
        sent.length = 0;
        await (value as Call)(argument, seconds[its] ?? second, third);
        if (/\/x|q=x/.test(sent[0] ?? '')) break;
      }
      lines.push(`${its}: ${sent.join('; ')}`);
    }
  }
  return lines;
}

/** Without those that run until they are stopped, or make another client. */
function functionsOf() {
  const { request: _, consumers, ...simplane } = createSimplane(options);
  const { request: __, account: ___, consumers: ofAll, ...operator } = createOperator(options);
  const { run: ____, ...ofOne } = consumers;
  const { run: _____, ...ofOperator } = ofAll;
  return { ...simplane, consumers: ofOne, operator: { ...operator, consumers: ofOperator } };
}

test('every function sends what it always has, and every operation of the API has one', async () => {
  asked = new Set();
  const lines = await sentBy(functionsOf(), '');
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./every-request.txt');
  const operations = Object.values(endpoints).map(([method, path]) => {
    let n = 0;
    return `${method} ${path.replace(/\{\w+\}/g, () => (++n === 1 ? 'x' : 'x2'))}`;
  });
  expect(asked).toEqual(new Set(operations));
});

test('an operator’s client of an account names the account in every request', async () => {
  const { request: _, consumers: __, ...functions } = createOperator(options).account('acct_1');
  for (const line of await sentBy(functions, ''))
    if (!line.endsWith(': ')) expect(line).toContain('account: acct_1');
});
