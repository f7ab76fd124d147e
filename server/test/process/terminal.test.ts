import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/platform/db/database.ts';
import { call } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, spawnServer } from '../support/process.ts';

// Sets the title and the clipboard, erases a line and a screen (also with C1 characters), and turns text around.
const hostile = 'x\u001b]0;owned\u0007\u001b]52;c;cm0=\u0007\r\u001b[2K\u009b2J\u007f\u202etxt\u2066';
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const key = 'sp_test_prints_no_control_characters';
let database: { url: string; drop(): Promise<void> };
let env: Record<string, string>;

/** As stored before the API refused such names, or by a tenant who found another way. */
beforeAll(async () => {
  database = await cloneDatabase();
  env = { DATABASE_URL: database.url, SIMPLANE_API_KEY: key };
  const server = await spawnServer(env);
  const body = { url: 'https://receiver.example', enabled_event_types: ['*'] };
  expect((await call({ url: server.url, key }, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
  expect(await server.end('SIGTERM')).toBe(0);
  const db = openDatabase({ connectionString: database.url, poolSize: 1, onError: () => {} });
  for (const text of [
    `update webhook_endpoints set url = 'https://receiver.example/' || $1, failing_since = now()`,
    'update accounts set name = $1',
    'update api_keys set name = $1',
    `update products set name = $1 where id = 'prod_europe_5gb_30d'`,
  ])
    await db.query({ name: text.slice(0, 20), text }, [hostile]);
  await db.end();
});
afterAll(() => database.drop());

describe('the operator’s command line prints no control character that a tenant stored', () => {
  test.each([
    ['keys', 'list'],
    ['accounts', 'list'],
    ['endpoints', 'failing'],
    ['catalog', 'list'],
  ])('%s %s', async (...command) => {
    const shown = await runCommand(command, env);
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    expect(shown.stdout).not.toMatch(controls);
    expect(shown.stdout).toContain(
      String.raw`x\u001b]0;owned\u0007\u001b]52;c;cm0=\u0007\u000d\u001b[2K\u009b2J`,
    );

    const json = await runCommand([...command, '--json'], env);
    expect(json.stdout).not.toMatch(controls);
    expect(JSON.stringify(JSON.parse(json.stdout))).toContain(JSON.stringify(hostile).slice(1, -1));
  });

  test('an error', async () => {
    const { code, stderr } = await runCommand(['keys', 'revoke', `key_${hostile}`], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining(String.raw`"key_x\u001b]0;owned`)]);
    expect(stderr).not.toMatch(controls);
  });
});
