import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgram } from '../src/program.ts';
import { run } from '../src/run.ts';

let exitCode: typeof process.exitCode;
beforeEach(() => {
  exitCode = process.exitCode;
  for (const stream of [process.stdout, process.stderr]) vi.spyOn(stream, 'write').mockReturnValue(true);
});
afterEach(() => {
  process.exitCode = exitCode;
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Has what commands read of the objects that they print. */
const printable = { id: 'x_1', data: [], products: [], scopes: [], allowed_cidrs: [] };

/** The requests that a command sends. */
async function sentBy(
  command: string,
  answer = (_: Request) => Response.json(printable),
  format = ['--json'],
): Promise<Request[]> {
  const sent: Request[] = [];
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const request = new Request(url, init);
    sent.push(request);
    return answer(request);
  });
  const to = ['--base-url', 'http://127.0.0.1:9', '--api-key', 'sp_test_1', ...format];
  await createProgram().parseAsync(['node', 'simplane', ...command.split(' '), ...to]);
  return sent;
}

test('a top-up that is repeated with its idempotency key is sent with it', async () => {
  const [request] = await sentBy('bundles add 8999 prod_us_1gb_7d --idempotency-key top-up-1');
  expect(request?.headers.get('idempotency-key')).toBe('top-up-1');
});

test('`esims create --dry-run` sends nothing that orders an eSIM', async () => {
  const sent = await sentBy('esims create prod_us_1gb_7d --dry-run');
  expect(await Promise.all(sent.map((request) => request.json()))).toEqual([
    { product_id: 'prod_us_1gb_7d', dry_run: true },
  ]);
});

test('`keys roll --expires-in 0` ends the old key at once', async () => {
  const [request] = await sentBy('keys roll key_1 --expires-in 0');
  expect(await request?.json()).toEqual({ expires_in: 0 });
});

test('`audit list --actor` asks only for what this actor did', async () => {
  const [request] = await sentBy('audit list --actor key_1');
  expect(new URL(request?.url ?? '').searchParams.get('actor')).toBe('key_1');
});

test('`trigger` publishes an event with a key that may not read', async () => {
  const refused = { error: { type: 'permission_error', code: 'scope_missing', message: 'It may not.' } };
  const sent = await sentBy('trigger esim.provisioned', ({ method }) =>
    method === 'GET' ? Response.json(refused, { status: 403 }) : Response.json({ ...printable, data: {} }),
  );
  expect(await sent.at(-1)?.json()).toMatchObject({ type: 'esim.provisioned' });
});

const endpoint = {
  id: 'we_1',
  url: 'https://example.com/',
  status: 'enabled',
  enabled_event_types: [],
  ordering: 'none',
  secrets: [],
  metadata: {},
  missed_since: null,
  failing_since: null,
  disabled_at: null,
};

test.each([
  [0, false],
  [1, true],
])(
  '`webhooks enable` of an endpoint that missed %i events offers to deliver them: %s',
  async (missed, offers) => {
    await sentBy('webhooks enable we_1', () => Response.json({ ...endpoint, missed_count: missed }), []);
    const notes = vi.mocked(process.stderr.write).mock.calls.join('');
    expect(notes.includes('simplane webhooks recover we_1')).toBe(offers);
  },
);

test('`api` sends what it is given to the base URL, and to no other address', async () => {
  const [request] = await sentBy('api patch v1/esims?limit=3 --query status=active --data {"a":1}');
  expect([request?.method, request?.url]).toEqual([
    ...['PATCH', 'http://127.0.0.1:9/v1/esims?limit=3&status=active'],
  ]);
  expect(await request?.json()).toEqual({ a: 1 });
  expect(await sentBy('api get https://elsewhere.example/v1/me')).toEqual([]);
});

test.each([
  [{ revoked_at: null, expires_at: null }, 'active'],
  [{ revoked_at: null, expires_at: 4_000_000_000 }, 'active'],
  [{ revoked_at: null, expires_at: 1_000_000_000 }, 'expired'],
  [{ revoked_at: 1, expires_at: 4_000_000_000 }, 'revoked'],
])('a key with %j is %s', async (times, status) => {
  const print = vi.mocked(process.stdout.write);
  await sentBy(
    'keys get key_1',
    () => Response.json({ ...printable, name: 'A', last4: 'abcd', ...times }),
    [],
  );
  expect(print.mock.calls.map(([text]) => String(text)).join('')).toMatch(new RegExp(`Status +${status}\\n`));
});

const data = '--data';
test.each<[command: string[], reason: string]>([
  [['batches', 'create', 'p', '0'], 'a number such as 500'],
  [['batches', 'create', 'p', '1.5'], 'a number such as 500'],
  [['batches', 'create', 'p', '007'], 'a number such as 500'],
  [['batches', 'create', 'p', '3', '--out', 'codes.txt'], '--out must end in .csv, .ndjson or .zip'],
  [['batches', 'create', 'p', '3', '--out', 'zip'], '--out must end in .csv, .ndjson or .zip'],
  [['batches', 'get', 'bat_1', '--out', 'csv.gz'], '--out must end in .csv, .ndjson or .zip'],
  [['batches', 'get', 'bat_1', '--wait', '--timeout', '5min'], 'a duration such as 30s, 5m or 2h'],
  [['bundles', 'add', '89', 'p', '--thresholds', '50,half'], 'percentages such as 50,80,100'],
  [['bundles', 'add', '89', 'p', '--thresholds', '50,'], 'percentages such as 50,80,100'],
  [['deliveries', 'list'], 'either --endpoint or --event'],
  [['deliveries', 'list', '--endpoint', 'we_1', '--event', 'evt_1'], 'either --endpoint or --event'],
  [['deliveries', 'list', '--event', 'evt_1', '--status', 'failed'], '--status needs --endpoint'],
  [['esims', 'create', 'p', '--metadata', 'team'], '--metadata must be name=value'],
  [['esims', 'erase', '89'], 'Add --yes to confirm'],
  [['esims', 'qr', '89', '--output', 'code.jpg'], '--output must end in .png or .svg'],
  [['esims', 'terminate', '89'], 'Add --yes to confirm'],
  [['events', 'tail', '--since', '2h', '--after', 'start'], 'either --since or --after'],
  [['keys', 'create'], '--scopes'],
  [['keys', 'create', '--scopes', 'read,root'], '"root" is not a scope'],
  [['keys', 'update', 'key_1'], 'Nothing to change'],
  [['listen', '--secret', 'hunter2'], '--secret must be whsec_'],
  [['listen', '--forward-to', 'ftp://127.0.0.1/'], '--forward-to must be a URL or port'],
  [['simulate', '89', 'use_data', '--bytes', '5XB'], 'a size such as 500MB'],
  [['simulate', '89', 'use_data', '--bytes', '0.1'], 'a size such as 500MB'],
  [['trigger', 'my.event', data, '[]'], '--data must be a JSON object'],
  [['trigger', 'my.event', data, '{'], '--data must be a JSON object'],
  [['webhooks', 'update', 'we_1'], 'Nothing to change'],
  [['api', 'post', '/v1/esims', data, '{'], '--data must be JSON'],
  [['api', 'post', '/v1/esims', data, '@/nowhere/body.json'], '--data: ENOENT'],
  [['api', 'get', '/v1/esims', '--query', 'limit'], '--query must be name=value'],
  [['api', 'head', '/v1/esims'], 'GET, POST, PUT, PATCH, DELETE'],
])('%j is refused before anything is sent', async (command, reason) => {
  const fetch = vi.fn();
  vi.stubGlobal('fetch', fetch);
  await run([...command, '--base-url', 'http://127.0.0.1:9', '--api-key', 'sp_test_1']);
  expect(vi.mocked(process.stderr.write).mock.calls.join('')).toContain(reason);
  expect([process.exitCode, fetch.mock.calls]).toEqual([2, []]);
});

test('networks, scopes, an end and sizes are read as they are meant', async () => {
  const [any] = await sentBy('keys update key_1 --allowed-cidrs none --expires-in never');
  expect(await any?.json()).toEqual({ allowed_cidrs: [], expires_at: null });
  const [some] = await sentBy('keys create --scopes read,write --allowed-cidrs 10.0.0.0/8,192.0.2.0/24');
  expect(await some?.json()).toEqual({
    ...{ scopes: ['read', 'write'], allowed_cidrs: ['10.0.0.0/8', '192.0.2.0/24'] },
  });
  const [used] = await sentBy('simulate 89 use_data --bytes 1.5gb --country de');
  expect(await used?.json()).toEqual({ action: 'use_data', country: 'DE', bytes: 1_500_000_000 });
  const [added] = await sentBy('bundles add 89 p --thresholds 50%,80');
  expect(await added?.json()).toMatchObject({ thresholds: [50, 80] });
});
