import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { call } from '../../server/test/support/client.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { startRelay } from './support/relay.ts';
import { envOf, jsonLines, type Running, runCli, startCli } from './support/run-cli.ts';

let service: TestService;
const started: Running[] = [];

beforeAll(async () => {
  service = await startService();
  service.startSequencer();
});
afterAll(() => service.stop());
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.end('SIGKILL')));
});

function tail(args: string[] = [], url = service.url): Running {
  const one = startCli(['events', 'tail', ...args], { env: envOf({ url, key: service.key }) });
  started.push(one);
  return one;
}

async function sendEvent(type = 'esim.provisioned', data: object = { iccid: '8999901000000000018' }) {
  const { json } = await call(service, 'POST', '/v1/events/test', { body: { type, data } });
  return json as { id: string; type: string };
}

function showsOnStderr(one: Running, text: string): Promise<string> {
  return until(
    async () => one.stderr(),
    (stderr) => stderr.includes(text),
  );
}

const idsIn = (text: string) => [...text.matchAll(/evt_\w+/g)].map(([id]) => id);

it('prints the events since a time and then each new one, and ends with the cursor to continue from', async () => {
  const earlier = await sendEvent('esim.suspended');
  await sendEvent('bundle.depleted');
  const one = tail(['--since', '1h', '--type', 'esim.suspended,my.*']);
  await one.shows(earlier.id);
  const next = await sendEvent('my.own', { note: 'a\u001b[31m \n Zürich' });
  const shown = await one.shows(next.id);
  expect(shown).toMatch(
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}esim\.suspended {2}evt_\w+ {2}\{"iccid":"8999901000000000018"\}\n/,
  );
  expect(shown).not.toContain('\u001b');
  const { code, stdout, stderr } = await one.end('SIGINT');
  expect(code).toBe(0);
  expect(idsIn(stdout)).toEqual([earlier.id, next.id]);

  const [, cursor = ''] = /^To continue from here: simplane events tail --after (\S+)\n$/.exec(stderr) ?? [];
  const missed = await sendEvent('my.own');
  const continued = tail(['--after', cursor, '--type', 'my.*', '--json']);
  await continued.shows(missed.id);
  const end = await continued.end('SIGTERM');
  expect(jsonLines(end.stdout)).toEqual([(await call(service, 'GET', `/v1/events/${missed.id}`)).json]);
  expect(jsonLines(end.stderr)).toEqual([{ object: 'stopped', cursor: expect.any(String) }]);
});

it('with --all-accounts and an operator’s key prints the events of all accounts, each with its account', async () => {
  const key = await service.createKey({ scopes: ['operator'] });
  const other = await service.createAccount('Other');
  const one = startCli(['events', 'tail', '--all-accounts', '--type', 'all.*', '--after', 'start'], {
    env: envOf({ url: service.url, key }),
  });
  started.push(one);
  const own = await sendEvent('all.first');
  await one.shows(own.id);
  const body = { type: 'all.second', data: {} };
  const { id } = (await call({ ...service, key: other.key }, 'POST', '/v1/events/test', { body })).json;
  const shown = await one.shows(id);
  expect(shown).toMatch(
    / {2}acct_\w+ {2}all\.first {2}evt_\w+ {2}\{.*\}\n.* {2}acct_\w+ {2}all\.second {2}evt_/,
  );
  const { stderr } = await one.end('SIGINT');
  expect(stderr).toMatch(/^To continue from here: simplane events tail --all-accounts --after \S+\n$/);
  const refused = await runCli(service, ['events', 'tail', '--all-accounts']);
  expect(refused.stderr).toContain('operator');
});

it('after a lost connection goes on where it was, and says when it was lost and when it is back', async () => {
  const relay = await startRelay(service.url);
  try {
    const first = await sendEvent('lost.connection');
    const one = tail(['--since', '1h', '--type', 'lost.*'], relay.url);
    await one.shows(first.id);
    relay.block();
    await showsOnStderr(one, 'Connection lost: ');
    const [second, third] = [await sendEvent('lost.connection'), await sendEvent('lost.connection')];
    relay.unblock();
    await one.shows(third.id);
    const fourth = await sendEvent('lost.connection');
    await one.shows(fourth.id);
    const { stdout, stderr } = await one.end('SIGINT');
    expect(idsIn(stdout)).toEqual([first.id, second.id, third.id, fourth.id]);
    expect(stderr).toMatch(/^Connection lost: .*\nConnected again; no event was missed\.\nTo continue/);
  } finally {
    relay.stop();
  }
});

it('misses nothing that comes after its first answer, even if the connection is lost before the first event', async () => {
  const relay = await startRelay(service.url);
  try {
    const one = tail(['--type', 'early.*'], relay.url);
    // The first request asks for the place. The second one opens the stream.
    await until(
      async () => relay.requests(),
      (count) => count >= 2,
    );
    relay.block();
    await showsOnStderr(one, 'Connection lost: ');
    const { id } = await sendEvent('early.event');
    relay.unblock();
    await one.shows(id);
  } finally {
    relay.stop();
  }
});

it('goes on trying to open its stream once the service has answered', async () => {
  const relay = await startRelay(service.url);
  try {
    relay.blockAfter(1); // the request that asks for the place
    const one = tail(['--type', 'late.*'], relay.url);
    // More often than other commands try.
    await until(
      async () => relay.refusals(),
      (count) => count >= 4,
    );
    const { id } = await sendEvent('late.event');
    relay.unblock();
    await one.shows(id);
  } finally {
    relay.stop();
  }
});

it('ends with 0 when its output is closed', async () => {
  const first = await sendEvent();
  const one = tail(['--since', '1h']);
  await one.shows(first.id);
  one.stopReading();
  await sendEvent();
  expect(await one.ended).toMatchObject({ code: 0 });
});

it('refuses two places, a cursor of another account and an unknown type, and says what to do', async () => {
  const other = await service.createAccount('Other');
  const { cursor } = (await call({ ...service, key: other.key }, 'GET', '/v1/events/feed?after=now')).json;
  const results = await Promise.all([
    runCli(service, ['events', 'tail', '--since', '1h', '--after', 'start']),
    runCli(service, ['events', 'tail', '--after', cursor]),
    runCli(service, ['events', 'tail', '--type', 'ESIM']),
    runCli({ ...service, key: 'sp_test_wrong' }, ['events', 'tail']),
    runCli({ url: 'http://127.0.0.1:9', key: service.key }, ['events', 'tail']),
  ]);
  expect(results).toMatchObject([
    { code: 2, stderr: expect.stringContaining('either --since or --after') },
    { code: 1, stderr: expect.stringContaining('cursor_invalid') },
    { code: 1, stderr: expect.stringContaining('type') },
    { code: 4 },
    { code: 3 },
  ]);
});
