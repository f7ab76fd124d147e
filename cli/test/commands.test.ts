import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'uqr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { call, provision } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { envOf, jsonLines, runCli, startCli } from './support/run-cli.ts';
import { runHere } from './support/run-here.ts';

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-cli-'));
  service = await startService({ requestLogLevel: 'errors' });
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSender();
  service.startSequencer();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runHere(service, args);

/** Runs a command with --json and returns the single document it prints. */
async function runJson(...args: string[]) {
  const finished = await run(...args, '--json');
  expect(finished).toMatchObject({ code: 0, stderr: '' });
  const lines = jsonLines(finished.stdout);
  expect(lines).toHaveLength(1);
  return lines[0];
}

describe('requests and audit', () => {
  it('a failed command names its request, and `requests get` says what to do', async () => {
    const { code, stderr } = await run('products', 'get', 'prod_none');
    const [id = ''] = /req_\w+/.exec(stderr) ?? [];
    expect([code, id.length]).toEqual([1, 30]);
    const { stdout } = await until(
      () => run('requests', 'get', id),
      (finished) => finished.code === 0,
    );
    expect(stdout).toMatch(/Request +GET \/v1\/products\/prod_none/);
    expect(stdout).toMatch(/Error +resource_missing: No product has the id "prod_none"/);
    expect(stdout).toMatch(/What to do +Check the id/);
    const listed = jsonLines(
      (await run('requests', 'list', '--status', '4xx', '--operation', 'getProduct', '--json')).stdout,
    );
    expect(listed).toMatchObject([{ id, status: 404 }]);
  });

  it('`audit list` shows who changed what', async () => {
    const endpoint = await runJson('webhooks', 'create', 'https://example.com/in', '--events', 'a.b');
    const entry = await runJson('audit', 'list', '--target', endpoint.id);
    expect(entry).toMatchObject({ action: 'webhook_endpoint.created', actor: { name: 'Test' } });
    expect((await run('audit', 'list', '--target', endpoint.id)).stdout).toContain(
      'webhook_endpoint.created',
    );
  });
});

describe('whoami and products', () => {
  it('whoami shows the account and where the key was found', async () => {
    const { code, stdout, stderr } = await run('whoami');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Test account');
    expect(stdout).toContain('from SIMPLANE_API_KEY');
    expect(stdout).not.toContain(service.key);
    expect(await runJson('whoami')).toEqual((await call(service, 'GET', '/v1/me')).json);
  });

  it('the catalog is a table, or with --json the products as the API returns them', async () => {
    const { stdout } = await run('products', 'list');
    const [head = '', ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^ID +NAME +DATA +DAYS +PRICE +COUNTRIES$/);
    expect(rows.some((row) => /^prod_europe_5gb_30d .* 5 GB +30 +\S*\d/.test(row))).toBe(true);
    expect(new Set(rows.map((row) => row.indexOf(' '))).size).toBeGreaterThan(1); // ids differ in length
    const nameAt = head.indexOf('NAME');
    expect(rows.every((row) => row[nameAt - 1] === ' ' && row[nameAt] !== ' ')).toBe(true); // yet the columns are aligned
    const listed = jsonLines((await run('products', 'list', '--all', '--json')).stdout);
    expect(listed).toEqual((await call(service, 'GET', '/v1/products?limit=100')).json.data);
  });
});

describe('looking things up', () => {
  it('shows what happened to an eSIM, its usage, the overview, and what an id is', async () => {
    const { iccid, id } = await runJson('esims', 'create', 'prod_europe_5gb_30d', '--wait');
    await run('simulate', iccid, 'use_data', '--bytes', '300MB');
    const timeline = await run('esims', 'timeline', iccid);
    expect(timeline.stdout).toMatch(/^TIME +KIND +WHAT +STATUS +WEBHOOKS +ID$/m);
    expect(timeline.stdout).toMatch(new RegExp(`order +The eSIM was ordered\\. +succeeded +${id}`));
    const usage = await run('esims', 'usage', iccid);
    expect(usage.stdout).toMatch(/^FROM +USED\n.* 300 MB\n$/);
    expect((await runJson('esims', 'usage', iccid, '--interval', 'hour')).used_bytes).toBe(300_000_000);
    const overview = await run('overview', '--since', '2d', '--hours');
    expect(overview.stdout).toMatch(/^STAGE +ORDERS +MEDIAN +P95\naccepted +\d+ +– +–$/m);
    expect(await runJson('search', id)).toMatchObject({ type: 'execution', path: `/v1/executions/${id}` });
    expect((await run('search', iccid.slice(-9))).stdout).toMatch(new RegExp(`^esim +${iccid} `, 'm'));
    expect(await run('search', 'exec_none')).toMatchObject({ code: 0, stdout: '' });
  });
});

describe('an eSIM', () => {
  it('is ordered once if the command is repeated with the same idempotency key, and is ready after --wait', async () => {
    const order = ['esims', 'create', 'prod_europe_5gb_30d', '--idempotency-key', 'cli-once'];
    const [first, again] = [
      await runJson(...order),
      await runJson(...order, '--product', 'prod_europe_5gb_30d'),
    ];
    expect(again.id).toBe(first.id);
    const waited = await runJson('executions', 'get', first.id, '--wait');
    expect(waited).toMatchObject({ id: first.id, status: 'succeeded', iccid: expect.stringMatching(/^89/) });

    // In a process of its own: it ends when the order has.
    const ordering = 'esims create --product prod_europe_1gb_7d --wait';
    const { code, stdout, stderr } = await runCli(service, ordering.split(' '));
    expect(code).toBe(0);
    const [, iccid = ''] = /ICCID +(89\d+)/.exec(stdout) ?? [];
    // And no progress line.
    expect(stderr).toMatch(
      new RegExp(
        `^Accepted as exec_\\w+\nInstall it: simplane esims qr ${iccid}\nLink for its user: simplane esims link ${iccid}\n$`,
      ),
    );
  });

  it('can be suspended, resumed and terminated; a script must confirm termination with --yes', async () => {
    const { iccid } = await runJson(
      ...'esims create prod_europe_1gb_7d --wait'.split(' '),
      '--metadata',
      'order=A=1',
    );
    const [shown, unconfirmed] = await Promise.all([
      run('esims', 'get', iccid),
      run('esims', 'terminate', iccid),
    ]);
    expect(shown.stdout).toMatch(/Status +provisioned[\s\S]*order +A=1/);
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const changes = [
      [['suspend'], 'suspended'],
      [['resume'], 'provisioned'],
      [['terminate', '--yes'], 'terminated'],
    ] as const;
    for (const [[verb, ...rest], status] of changes) {
      expect(await runJson('esims', verb, iccid, ...rest, '--wait')).toMatchObject({ status: 'succeeded' });
      expect((await call(service, 'GET', `/v1/esims/${iccid}`)).json.status).toBe(status);
    }
    expect(await run('esims', 'erase', iccid)).toMatchObject({
      ...{ code: 2, stderr: expect.stringContaining('--yes') },
    });
    expect(await runJson('esims', 'erase', iccid, '--yes')).toMatchObject({
      ...{ object: 'erasure', target: { type: 'esim', id: iccid }, status: expect.any(String) },
    });
    const listed = await run('esims', 'list', '--status', 'terminated', '--json');
    expect(jsonLines(listed.stdout).map((esim) => esim.iccid)).toEqual([iccid]);
  });

  it('is drawn as the QR code of its LPA string, normal or inverted, or written to a private file', async () => {
    const { iccid } = await runJson(...'esims create prod_europe_1gb_7d --wait'.split(' '));
    const { lpa } = (await call(service, 'GET', `/v1/esims/${iccid}/install`)).json;
    await writeFile(join(folder, 'esim.png'), 'of an earlier eSIM', { mode: 0o644 });
    const [dark, inverted, written] = await Promise.all([
      run('esims', 'qr', iccid),
      run('esims', 'qr', iccid, '--invert'),
      run('esims', 'qr', iccid, '--output', join(folder, 'esim.png')),
    ]);
    const modules = encode(lpa, { ecc: 'M', border: 4 }).data;
    expect(modulesOf(inverted.stdout, modules.length)).toEqual(modules);
    expect(modulesOf(dark.stdout, modules.length)).toEqual(
      modules.map((row) => row.map((isDark) => !isDark)),
    );
    expect(dark.stdout).toContain(lpa);
    expect(written).toMatchObject({ code: 0, stdout: '' });
    const [png, { mode }] = [await readFile(join(folder, 'esim.png')), await stat(join(folder, 'esim.png'))];
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect(mode & 0o777).toBe(0o600);
  });

  it('gets a link for its user, which is listed without its URL and revoked', async () => {
    const { iccid } = await runJson(...'esims create prod_europe_1gb_7d --wait'.split(' '));
    const options = ['--expires-in', '12h', '--language', 'de', '--return-url', 'https://shop.example/1'];
    const [link, drawn] = [
      await runJson('esims', 'link', iccid, ...options),
      await run('esims', 'link', iccid, '--qr', '--invert'),
    ];
    expect(link).toMatchObject({ iccid, language: 'de', return_url: 'https://shop.example/1' });
    expect(link.expires_at - link.created).toBe(12 * 3_600);
    const [url = ''] = /http\S+\/i\/[\w-]{43}/.exec(drawn.stdout) ?? [];
    const modules = encode(url, { ecc: 'M', border: 4 }).data;
    expect(modulesOf(drawn.stdout, modules.length)).toEqual(modules);
    const listed = await run('esims', 'links', iccid);
    expect(listed.stdout).toContain(link.id);
    expect(listed.stdout).not.toContain('/i/');
    expect((await run('esims', 'revoke-link', iccid, link.id)).code).toBe(0);
    expect((await run('esims', 'links', iccid)).stdout).not.toContain(link.id);
  });

  it('a failed order shows its error and exits 1; a wait that times out exits 5', async () => {
    const declined = await run('esims', 'create', 'prod_sandbox_declined', '--wait', '--json');
    expect(declined.code).toBe(1);
    expect(jsonLines(declined.stdout)).toMatchObject([{ status: 'failed', error: { code: 'declined' } }]);
    expect(jsonLines(declined.stderr)).toMatchObject([{ error: { exit_code: 1 } }]);

    const idle = await startService(); // no worker runs
    try {
      const { id } = (await provision(idle)).json;
      const { code, stderr } = await runCli(idle, ['executions', 'get', id, '--wait', '--timeout', '0s']);
      expect(code).toBe(5);
      expect(stderr).toContain(`simplane executions get ${id} --wait`);
      const { waiting_for } = (await call(idle, 'GET', `/v1/executions/${id}`)).json;
      const { stdout } = await runHere(idle, ['executions', 'get', id]);
      expect(stdout).toContain(`Waiting for   ${waiting_for}\nNext attempt  20`);
      for (const args of [
        ['executions', 'get', id],
        ['esims', 'create', 'prod_europe_1gb_7d'],
      ]) {
        const unfinished = await runHere(idle, [...args, '--wait', '--timeout', '0s', '--json']);
        expect(unfinished.code).toBe(5);
        expect(jsonLines(unfinished.stdout)).toMatchObject([{ object: 'execution', status: 'queued' }]);
        expect(jsonLines(unfinished.stderr)).toMatchObject([{ error: { exit_code: 5 } }]);
      }
    } finally {
      await idle.stop();
    }
  });
});

describe('an eSIM in the sandbox', () => {
  it('is ordered for a device with a confirmation code, topped up and used', async () => {
    const eid = '89882119900000000000000000001654';
    const order = ['esims', 'create', 'prod_europe_1gb_7d', '--eid', eid, '--confirmation-code', '4711-0815'];
    const { iccid } = await runJson(...order, '--wait');
    expect(await runJson('esims', 'get', iccid)).toMatchObject({ eid });
    expect(await runJson('esims', 'qr', iccid)).toMatchObject({ confirmation_code_required: true });

    const topUp = ['bundles', 'add', iccid, 'prod_europe_5gb_30d', '--thresholds', '25,75', '--wait'];
    expect(await runJson(...topUp)).toMatchObject({ type: 'bundle.add', status: 'succeeded' });
    await runJson('simulate', iccid, 'attach', '--country', 'fr');
    await runJson('simulate', iccid, 'use_data', '--bytes', '0.5GB', '--record-id', 'cdr-1');
    expect(
      await runJson('simulate', iccid, 'use_data', '--bytes', '500MB', '--record-id', 'cdr-1'),
    ).toMatchObject({
      iccid,
      status: 'active',
    });
    const bundles = jsonLines((await run('bundles', 'list', iccid, '--json')).stdout);
    expect(bundles.map(({ used_bytes, thresholds }) => ({ used_bytes, thresholds }))).toEqual(
      expect.arrayContaining([
        { used_bytes: 500_000_000, thresholds: [50, 80, 100] },
        { used_bytes: 0, thresholds: [25, 75] },
      ]),
    );
    expect((await run('bundles', 'list', iccid)).stdout).toMatch(/active +500 MB +1 GB/);

    const queued = bundles.find(({ status }) => status === 'queued');
    expect(await runJson('bundles', 'cancel', iccid, queued.id)).toMatchObject({ status: 'canceled' });
    const elsewhere = ['bundles', 'add', iccid, 'prod_us_1gb_7d', '--wait'];
    expect((await run(...elsewhere)).stderr).toContain('any_region');
    expect(await runJson(...elsewhere, '--any-region')).toMatchObject({ status: 'succeeded' });
    await runJson('simulate', iccid, 'use_data', '--bytes', '5MB', '--country', 'jp');
    const { stdout } = await run('esims', 'get', iccid);
    expect(stdout).toMatch(/Country +JP\n *Not covered +5 MB/);
    expect(stdout).toMatch(/Service +barred, not_covered\n/);
  });
});

describe('api', () => {
  it('calls any operation and prints its JSON', async () => {
    const indented = await run('api', 'get', '/v1/products?limit=1');
    expect(JSON.parse(indented.stdout)).toEqual((await call(service, 'GET', '/v1/products?limit=1')).json);
    expect(indented.stdout).toMatch(/^{\n {2}"object"/);
    const limited = await runJson('api', 'GET', 'v1/products', '--query', 'limit=2');
    expect(limited.data).toHaveLength(2);
    const order = ['api', 'POST', '/v1/esims', '--idempotency-key', 'cli-api', '--data'];
    const body = '{"product_id": "prod_europe_1gb_7d"}';
    const [once, twice] = [await runJson(...order, body), await runJson(...order, body)];
    expect(twice.id).toBe(once.id);
    const piped = startCli(['api', 'POST', '/v1/events/test', '--data', '@-', '--json'], {
      env: envOf(service),
      input: '{"type": "from.stdin", "data": {}}',
    });
    piped.endInput();
    expect(jsonLines((await piped.ended).stdout)).toMatchObject([{ type: 'from.stdin' }]);
  });

  it('refuses another address, a wrong method and a body that is not JSON, and explains refusals', async () => {
    const results = await Promise.all([
      run('api', 'GET', 'https://example.com/v1/me'),
      run('api', 'FETCH', '/v1/me'),
      run('api', 'POST', '/v1/esims', '--data', '{product_id}'),
      run('api', 'GET', '/v1/esims/8999901000000000018'),
    ]);
    expect(results).toMatchObject([
      { code: 2, stderr: expect.stringContaining('--base-url') },
      { code: 2, stderr: expect.stringContaining('GET, POST') },
      { code: 2, stderr: expect.stringContaining('--data must be JSON') },
      { code: 1, stderr: expect.stringContaining('resource_missing') },
    ]);
  });
});

describe('lists', () => {
  it('fetch as many pages as requested, and say when more items exist', async () => {
    await Promise.all(Array.from({ length: 130 }, (_, n) => sendEvent('list.test', { n })));
    const of = ['events', 'list', '--type', 'list.test'];
    const [some, hundred, all] = await Promise.all([
      run(...of),
      run(...of, '--limit', '101', '--json'),
      run(...of, '--all', '--json'),
    ]);
    expect(some.stdout.trimEnd().split('\n')).toHaveLength(1 + 20);
    expect(some.stderr).toContain('--all');
    expect(jsonLines(hundred.stdout)).toHaveLength(101);
    const numbers = jsonLines(all.stdout).map(({ data }) => data.n);
    expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 130 }, (_, n) => n));
  });

  it('exit 0 without an error when their output is closed early', async () => {
    await Promise.all(Array.from({ length: 30 }, () => sendEvent('pipe.test', { text: 'x'.repeat(20_000) })));
    const listing = startCli(['events', 'list', '--type', 'pipe.test', '--all', '--json'], {
      env: envOf(service),
    });
    await listing.shows('{');
    listing.stopReading();
    expect(await listing.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('print a hint on standard error when they are empty', async () => {
    const nobody = { url: service.url, key: (await service.createAccount('Empty')).key };
    const { code, stdout, stderr } = await runHere(nobody, ['esims', 'list']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('simplane esims create');
  });

  it('print no control characters from untrusted data', async () => {
    await sendEvent('control.test', { text: '\u001b[2J\u009b31m' });
    const id = (await call(service, 'GET', '/v1/events?type=control.test')).json.data[0].id;
    const { stdout } = await run('events', 'get', id);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
    expect(stdout).not.toMatch(/[\u001b\u009b]/);
    expect(stdout).toContain('[2J');
    const json = (await run('events', 'get', id, '--json')).stdout;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
    expect(json).not.toMatch(/[\u001b\u009b]/);
    expect(JSON.parse(json).data).toEqual({ text: '\u001b[2J\u009b31m' });
  });
});

describe('keys', () => {
  it('are created, listed, changed, rolled and revoked', async () => {
    const created = await run(
      ...'keys create --name Shop --scopes read,install --expires-in 90d --allowed-cidrs 127.0.0.0/8'.split(
        ' ',
      ),
    );
    expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('not shown again') });
    const [, id = ''] = /ID +(key_\w+)/.exec(created.stdout) ?? [];
    const [, key = ''] = /Key +(sp_test_\S+)/.exec(created.stdout) ?? [];
    expect((await call(service, 'GET', '/v1/me', { key })).json.api_key.id).toBe(id);
    const [list, changed] = await Promise.all([
      run('keys', 'list'),
      runJson('keys', 'update', id, '--scopes', 'read', '--allowed-cidrs', 'none', '--expires-in', 'never'),
    ]);
    expect(list.stdout).toContain(id);
    expect(list.stdout).not.toContain(key);
    expect(changed).toMatchObject({ name: 'Shop', scopes: ['read'], allowed_cidrs: [], expires_at: null });
    const rolled = await runJson('keys', 'roll', id, '--expires-in', '1h');
    expect(rolled).toMatchObject({ name: 'Shop', key: expect.stringMatching(/^sp_test_/) });
    expect(await run('keys', 'revoke', id)).toMatchObject({ code: 0, stdout: `Revoked ${id}.\n` });
    expect((await run('keys', 'get', id)).stdout).toMatch(/Status +revoked/);
    expect(await run('keys', 'create', '--scopes', 'wirte')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"wirte" is not a scope'),
    });
  });
});

describe('webhooks and events', () => {
  it('endpoints can be created, read, rotated, enabled, recovered and deleted; events replayed', async () => {
    const created = await run(
      ...'webhooks create http://127.0.0.1:9/hook --events esim.*,my.type --description Mine'.split(' '),
    );
    expect(created.code).toBe(0);
    const [, id = ''] = /ID +(we_\w+)/.exec(created.stdout) ?? [];
    const [, secret = ''] = /Secret +(whsec_\S+)/.exec(created.stdout) ?? [];
    expect(secret).not.toBe('');
    const [shown, rotated, enabled, recovery, list, event] = await Promise.all([
      runJson('webhooks', 'get', id),
      runJson('webhooks', 'rotate-secret', id, '--expires-in', '1h'),
      runJson('webhooks', 'enable', id),
      runJson('webhooks', 'recover', id, '--since', '2026-11-01T08:00:00Z'),
      run('webhooks', 'list'),
      runJson('trigger', 'my.type', '--data', '{"mine": 1}'),
    ]);
    expect(shown).toMatchObject({ enabled_event_types: ['esim.*', 'my.type'], description: 'Mine' });
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect(enabled).toMatchObject({ id, status: 'enabled' });
    expect(recovery).toMatchObject({ since: Date.parse('2026-11-01T08:00:00Z') / 1000 });
    expect(list.stdout).toContain(id);
    expect(event).toMatchObject({ type: 'my.type', data: { mine: 1 } });

    const [replayed, again] = await Promise.all([
      runJson('events', 'replay', event.id, '--to', id),
      runJson('events', 'get', event.id),
    ]);
    expect(replayed).toMatchObject({ event_id: event.id, deliveries: [{ webhook_endpoint_id: id }] });
    expect(again).toEqual(event);

    const [preview, probe, stats, attempts] = await Promise.all([
      runJson('webhooks', 'recover', id, '--since', '1h', '--dry-run'),
      runJson('webhooks', 'probe', id),
      runJson('webhooks', 'stats', id, '--hours', '2'),
      until(
        async () =>
          jsonLines((await run('webhooks', 'attempts', id, '--outcome', 'failed', '--json')).stdout),
        (lines) => lines.length > 0,
      ),
    ]);
    expect(preview).toMatchObject({ object: 'recovery_preview', capped: false });
    expect(probe).toMatchObject({ outcome: 'failed', error: 'connection refused' });
    expect(stats).toMatchObject({ object: 'webhook_endpoint_stats', webhook_endpoint_id: id });
    expect(attempts[0]).toMatchObject({ outcome: 'failed', error: 'connection refused' });
    const texts = ['recover --since 1h --dry-run', 'probe', 'stats', 'attempts'].map((command) => {
      const [verb = '', ...options] = command.split(' ');
      return run('webhooks', verb, id, ...options);
    });
    const [previewText, probeText, statsText, attemptsText] = await Promise.all(texts);
    expect(previewText?.stdout).toMatch(/Would queue +\d+ missed since/);
    expect(probeText?.stdout).toMatch(/Result +connection refused/);
    // The sender writes its counts every few seconds.
    expect((statsText?.stdout ?? '') + statsText?.stderr).toMatch(/^HOUR|No attempts since/);
    expect(attemptsText?.stdout).toMatch(/^AT +OUTCOME +ANSWER/);
    expect(await run('webhooks', 'delete', id)).toMatchObject({ code: 0, stdout: `Deleted ${id}.\n` });
    expect(await run('webhooks', 'get', id)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('simplane webhooks list'),
    });
  });

  it('an endpoint is updated in the given fields only', async () => {
    const url = 'http://127.0.0.1:9/update';
    const { id } = await runJson('webhooks', 'create', url, '--description', 'Old', '--metadata', 'a=1');
    const changed = await runJson(
      ...['webhooks', 'update', id, '--events', 'esim.*', '--description', 'New', '--ordering', 'esim'],
      ...['--metadata', 'a=', '--metadata', 'b=2', '--status', 'disabled'],
    );
    expect(changed).toMatchObject({
      url,
      enabled_event_types: ['esim.*'],
      description: 'New',
      ordering: 'esim',
      status: 'disabled',
    });
    expect(changed.metadata).toEqual({ b: '2' });
    expect(await runJson('webhooks', 'update', id, '--url', `${url}2`)).toMatchObject({
      ...changed,
      url: `${url}2`,
    });
    expect(await run('webhooks', 'update', id)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--help'),
    });
    await run('webhooks', 'delete', id);
  });

  it('deliveries are listed by endpoint or event, shown with their attempts, and retried', async () => {
    const { id: endpoint } = await runJson(
      ...'webhooks create http://127.0.0.1:9/ --events dlv.test --ordering esim'.split(' '),
    );
    const event = await runJson('trigger', 'dlv.test');
    const [delivery] = await until(
      async () => jsonLines((await run('deliveries', 'list', '--endpoint', endpoint, '--json')).stdout),
      ([first]) => first?.attempt_count > 0,
    );
    expect(delivery).toMatchObject({ event_id: event.id });
    const [byEvent, byStatus, table, shown, failing, neither] = await Promise.all([
      run('deliveries', 'list', '--event', event.id, '--json'),
      run('deliveries', 'list', '--endpoint', endpoint, '--status', 'succeeded', '--json'),
      run('deliveries', 'list', '--endpoint', endpoint),
      run('deliveries', 'get', delivery.id),
      run('webhooks', 'get', endpoint),
      run('deliveries', 'list'),
    ]);
    expect(jsonLines(byEvent.stdout).map(({ id }) => id)).toEqual([delivery.id]);
    expect(byStatus.stdout).toBe('');
    expect(table.stdout).toContain(delivery.id);
    expect(shown.stdout).toMatch(/attempt 1 .* ms/);
    expect(failing.stdout).toMatch(
      /Last success +–\n(?:Missed .*\n)?Failing since +20.*, \d+ failed attempts?\nLast error +\S.*\nNext attempt .*\nOrdering +esim\n/,
    );
    const retried = await runJson('deliveries', 'retry', delivery.id);
    expect(retried).toMatchObject({ event_id: event.id, webhook_endpoint_id: endpoint });
    expect(neither).toMatchObject({ code: 2, stderr: expect.stringContaining('--endpoint or --event') });
    await run('webhooks', 'delete', endpoint);
  });

  it('a pending delivery can be skipped', async () => {
    const idle = await startService(); // no sender runs
    try {
      const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
      const { id } = (await call(idle, 'POST', '/v1/webhook_endpoints', { body })).json;
      await call(idle, 'POST', '/v1/events/test', { body: { type: 'my.type', data: {} } });
      const [delivery] = (await call(idle, 'GET', `/v1/webhook_endpoints/${id}/deliveries`)).json.data;
      const { code, stdout } = await runHere(idle, ['deliveries', 'skip', delivery.id]);
      expect(code).toBe(0);
      expect(stdout).toMatch(new RegExp(`^ID +${delivery.id}\nStatus +canceled\n`));
    } finally {
      await idle.stop();
    }
  });

  it('consumers can be created once, listed, moved and deleted', async () => {
    const created = await runJson(
      'consumers',
      'create',
      'billing',
      '--after',
      'start',
      '--type',
      'esim.*,my.type',
    );
    expect(created).toMatchObject({ name: 'billing', type: ['esim.*', 'my.type'] });
    await run('trigger', 'my.type');
    await until(
      () => runJson('consumers', 'get', 'billing'),
      ({ behind }) => behind > 0,
    );
    const [again, table, shown] = await Promise.all([
      runJson('consumers', 'create', 'billing'),
      run('consumers', 'list'),
      run('consumers', 'get', 'billing'),
    ]);
    expect(again).toMatchObject({ type: created.type, cursor: created.cursor });
    expect(table.stdout).toMatch(/^NAME +BEHIND .*\nbilling +\d+ /);
    expect(shown.stdout).toMatch(/Types +esim\.\*,my\.type\nBehind +\d+ events?\n/);
    expect(await runJson('consumers', 'seek', 'billing', '--after', 'now')).toMatchObject({ behind: 0 });
    expect(await run('consumers', 'seek', 'billing')).toMatchObject({ code: 2 });
    expect(await run('consumers', 'delete', 'billing')).toMatchObject({
      code: 0,
      stdout: 'Deleted billing.\n',
    });
    expect(await run('consumers', 'get', 'billing')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('simplane consumers list'),
    });
  });

  it('trigger sends data about an eSIM that exists, and its fields agree', async () => {
    const account = { url: service.url, key: (await service.createAccount('Trigger')).key };
    const trigger = async (type: string, data = '{}') => {
      const finished = await runHere(account, ['trigger', type, '--data', data, '--json']);
      expect(finished).toMatchObject({ code: 0, stderr: '' });
      return jsonLines(finished.stdout)[0].data;
    };
    const text = await runHere(account, ['trigger', 'esim.provisioned']);
    expect(text).toMatchObject({ code: 0, stderr: expect.stringContaining('made up') });
    const invented = await trigger('bundle.depleted');
    expect(invented.used_bytes).toBe(invented.data_bytes);

    const order = ['esims', 'create', 'prod_us_1gb_7d', '--wait', '--json'];
    const [execution] = jsonLines((await runHere(account, order)).stdout);
    const { iccid } = execution;
    const [bundle] = (await call(account, 'GET', `/v1/esims/${iccid}/bundles`)).json.data;
    const product = (await call(account, 'GET', '/v1/products/prod_us_1gb_7d')).json;
    const about = { iccid, product_id: 'prod_us_1gb_7d' };
    expect(await trigger('esim.provisioned')).toEqual({ ...about, execution_id: execution.id });
    const ofBundle = { ...about, bundle_id: bundle.id, data_bytes: bundle.data_bytes };
    expect(await trigger('bundle.usage_threshold', '{"threshold_percent": 50}')).toEqual({
      ...ofBundle,
      threshold_percent: 50,
      used_bytes: bundle.data_bytes / 2,
    });
    expect(await trigger('bundle.depleted')).toEqual({ ...ofBundle, used_bytes: bundle.data_bytes });
    const activated = await trigger('bundle.activated');
    const days = (activated.expires_at - Date.now() / 1000) / 86_400;
    expect(Math.abs(days - product.validity_days)).toBeLessThan(0.1);
    expect(await trigger('esim.activated', '{"iccid": "8999901000000000018"}')).toMatchObject({
      iccid: '8999901000000000018',
    });
  });

  it('trigger fills in sample data, lets any field be replaced, and suggests a type for a typo', async () => {
    const [known, mistyped, broken] = await Promise.all([
      runJson('trigger', 'bundle.usage_threshold', '--data', '{"threshold_percent": 50}'),
      run('trigger', 'esim.provisoned'),
      run('trigger', 'esim.provisioned', '--data', '[1]'),
    ]);
    expect(known.data).toMatchObject({ threshold_percent: 50, iccid: expect.stringMatching(/^89/) });
    expect(mistyped).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Did you mean esim.provisioned?'),
    });
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('JSON object') });
  });
});

describe('mcp', () => {
  it('prints only protocol messages on standard output, and exits when its client closes', async () => {
    const serving = startCli(['mcp'], { env: envOf(service), input: `${JSON.stringify(initialize)}\n` });
    await serving.shows('"serverInfo"');
    serving.endInput();
    const { code, stdout } = await serving.ended;
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([{ jsonrpc: '2.0', id: 1, result: { serverInfo: {} } }]);
  });

  it('reports a missing key on standard error', async () => {
    expect(await startCli(['mcp']).ended).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('SIMPLANE_API_KEY'),
    });
  });
});

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};

function sendEvent(type: string, data: object) {
  return call(service, 'POST', '/v1/events/test', { body: { type, data } });
}

/** Converts half blocks back into rows of modules. */
function modulesOf(picture: string, size: number): boolean[][] {
  const lines = picture.split('\n').slice(0, Math.ceil(size / 2));
  const rows = lines.flatMap((line) => {
    const cells = [...line.padEnd(size)];
    return [cells.map((cell) => '█▀'.includes(cell)), cells.map((cell) => '█▄'.includes(cell))];
  });
  return rows.slice(0, size);
}
