import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFaultyProxy } from '../../sdk/test/support/faulty-proxy.ts';
import { ordersDescribed } from '../../server/test/support/orders-described.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { hasTerminal, inTerminal } from './support/in-terminal.ts';
import { envOf, jsonLines, runCli, startCli } from './support/run-cli.ts';
import { runHere } from './support/run-here.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const containing = (text: string) => expect.stringContaining(text);

describe('an error names the next step and sets the exit code:', () => {
  it('1 when the service refuses', async () => {
    const [product, esim, empty, json] = await Promise.all([
      runCli(service, ['esims', 'create', 'prod_nowhere']),
      runHere(service, ['esims', 'qr', '8999901000000000018']),
      runHere(service, ['webhooks', 'create', 'ftp://example.com']),
      runHere(service, ['esims', 'create', 'prod_nowhere', '--json']),
    ]);
    expect(product).toMatchObject({ code: 1, stdout: '', stderr: containing('simplane products list') });
    expect(esim).toMatchObject({ code: 1, stderr: containing('simplane esims list') });
    expect(empty).toMatchObject({ code: 1, stderr: containing('url_not_allowed') });
    expect(json).toMatchObject({ code: 1, stdout: '' });
    expect(jsonLines(json.stderr)).toEqual([
      {
        error: {
          type: 'invalid_request_error',
          code: 'resource_missing',
          message: expect.any(String),
          param: 'product_id',
          request_id: expect.stringMatching(/^req_/),
          next_step: containing('simplane products list'),
          exit_code: 1,
        },
      },
    ]);
  });

  it('2 when the command line is invalid, with a suggestion', async () => {
    const wrong: [args: string[], hint: string][] = [
      [['esim', 'list'], 'Did you mean esims?'],
      [['esims', 'crate'], 'Did you mean create?'],
      [['esims', 'list', '--limt', '3'], 'Did you mean --limit?'],
      [['esims', 'list', '--limit', '0'], 'whole number of at least 1'],
      [['esims', 'get'], 'simplane esims get --help'],
      [['esims', 'create'], 'simplane products list'],
      [['esims', 'create', 'prod_a', '--product', 'prod_b'], 'Two different products given'],
      [['webhooks', 'recover', 'we_1', '--since', 'soon'], '--since'],
      [['events', 'list', '--since', 'yesterday'], '2h (ago)'],
      [['whoami', '--base-url', 'localhost'], 'SIMPLANE_BASE_URL'],
      [['whoami', '--base-url', 'http://:hunter2@127.0.0.1:4000'], 'a user or a password.'],
      [['whoami', '--base-url', 'http://127.0.0.1:4000/v1'], '--base-url http://127.0.0.1:4000'],
      [['esims'], 'create'],
    ];
    const results = await Promise.all(wrong.map(([args]) => runHere(service, args)));
    const [[args, hint] = [[], '']] = wrong;
    expect(await runCli(service, args)).toEqual({ code: 2, stdout: '', stderr: containing(hint) });
    expect(results).toEqual(wrong.map(([, hint]) => ({ code: 2, stdout: '', stderr: containing(hint) })));
    expect(JSON.stringify(results)).not.toContain('hunter2');
  });

  it('3 when nothing answers, or another program does', async () => {
    const otherServer = createServer((_, response) => response.end('<html>hello</html>'));
    await new Promise<void>((resolve) => otherServer.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(otherServer.address() as AddressInfo).port}`;
    const answered = await runCli({ url, key: service.key }, ['whoami']);
    otherServer.close();
    otherServer.closeAllConnections();
    const unanswered = await runHere({ url, key: service.key }, ['whoami']);
    expect([answered, unanswered]).toMatchObject([
      { code: 3, stderr: containing(url) },
      { code: 3, stderr: expect.stringMatching(/ECONNREFUSED[\s\S]*npm start/) },
    ]);
  });

  it('3 when the service fails, or does not answer while it is waited for', async () => {
    const faulty = await startFaultyProxy(service.url);
    const target = { url: faulty.url, key: service.key };
    faulty.plan = Array(9).fill('500 before');
    const failed = await runHere(target, ['whoami']);
    faulty.plan = Array(9).fill('hangs before');
    const wait = ['executions', 'get', 'exec_1', '--wait', '--timeout', '1s'];
    const unanswered = await runHere(target, wait);
    await faulty.stop();
    expect([failed, unanswered]).toMatchObject([
      { code: 3, stderr: containing('Internal error.') },
      { code: 3, stderr: containing('The base URL is') },
    ]);
  });

  it('3 when the answer to a write is lost, with the key that repeats it without a second order', async () => {
    const lossy = await startFaultyProxy(service.url);
    lossy.plan = Array(3).fill('lost: reset');
    const order = ['esims', 'create', 'prod_us_1gb_7d', '--description', 'answer lost', '--json'];
    const lost = await runHere({ url: lossy.url, key: service.key }, order);
    await lossy.stop();
    expect(lost).toMatchObject({ code: 3, stdout: '' });
    const [{ error }] = jsonLines(lost.stderr) as [{ error: { idempotency_key: string; next_step: string } }];
    expect(error.next_step).toContain(`--idempotency-key ${error.idempotency_key}`);
    const again = await runHere(service, [...order, '--idempotency-key', error.idempotency_key]);
    expect(again).toMatchObject({ code: 0 });
    expect(await ordersDescribed(service, 'answer lost')).toHaveLength(1);
  });

  it('4 when the key is missing, invalid or lacks the scope, without printing the key', async () => {
    const key = await service.createKey({ scopes: ['read'] });
    const [missing, missingRemote, wrong, scope] = await Promise.all([
      startCli(['whoami'], { env: { SIMPLANE_BASE_URL: service.url } }).ended,
      startCli(['whoami', '--base-url', 'https://sandbox.example.com']).ended,
      runHere(service, ['whoami', '--api-key', 'sp_test_wrong']),
      runHere({ ...service, key }, ['esims', 'create', 'prod_europe_5gb_30d']),
    ]);
    expect(missing).toMatchObject({ code: 4, stderr: containing('SIMPLANE_API_KEY') });
    expect(missingRemote).toMatchObject({ code: 4, stderr: containing('simplane-server keys create') });
    expect(wrong).toMatchObject({ code: 4, stderr: containing('came from --api-key') });
    expect(wrong.stderr).not.toContain('sp_test_wrong');
    expect(scope).toMatchObject({ code: 4, stderr: containing('simplane whoami') });
  });
});

if (hasTerminal) {
  it.each([
    ['Ctrl-C ends the command', '\x03', 130],
    ['Ctrl-D is a no', '\x04', 2],
    ['no is a no', 'n\r', 2],
  ])('to the question of `esims terminate`, %s, and nothing is terminated', async (_, keys, code) => {
    const asked = inTerminal('esims terminate 8999', { env: envOf(service) });
    await until(
      async () => asked.output(),
      (output) => output.includes('[y/N]'),
    );
    asked.type(keys);
    const { stdout, ...ended } = await asked.ended;
    expect(ended).toEqual({ code });
    expect(stdout.includes('nothing was changed')).toBe(code === 2);
    expect(stdout).not.toContain('resource_missing');
  });
}

describe('the sandbox key in the current folder', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simplane-cli-'));
    await mkdir(join(folder, '.simplane'));
    await writeFile(join(folder, '.simplane/sandbox-api-key'), `${service.key}\n`, { mode: 0o600 });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is used for a service on this machine and never sent to another machine', async () => {
    const [local, remote, blank] = await Promise.all([
      startCli(['whoami', '--base-url', service.url], { cwd: folder }).ended,
      startCli(['whoami', '--base-url', 'http://sandbox.example.com'], { cwd: folder }).ended,
      startCli(['whoami'], { cwd: folder, env: { SIMPLANE_API_KEY: '', SIMPLANE_BASE_URL: service.url } })
        .ended,
    ]);
    expect(local).toMatchObject({ code: 0, stdout: containing('from .simplane/sandbox-api-key') });
    expect(remote).toMatchObject({ code: 4 });
    expect(blank).toMatchObject({ code: 0 });
  });
});

describe('color', () => {
  it('is off for pipes unless FORCE_COLOR is set, and NO_COLOR wins', async () => {
    const args = ['products', 'list', '--limit', '1'];
    const [piped, forced, refused, failed] = await Promise.all([
      runCli(service, args, { env: { CI: 'true' } }),
      runCli(service, args, { env: { FORCE_COLOR: '1' } }),
      runCli(service, args, { env: { FORCE_COLOR: '1', NO_COLOR: '1' } }),
      runCli(service, ['esims', 'create', 'prod_nowhere']),
    ]);
    const isColored = (text: string) => text.includes('\u001b[');
    expect([piped, forced, refused].map(({ stdout }) => isColored(stdout))).toEqual([false, true, false]);
    expect(isColored(failed.stderr)).toBe(false);
  });
});
