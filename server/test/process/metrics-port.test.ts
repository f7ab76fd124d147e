import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, spawnServer } from '../support/process.ts';

const key = 'sp_test_has_a_port_for_metrics';
let database: { url: string; drop(): Promise<void> };
let env: Record<string, string>;
beforeAll(async () => {
  database = await cloneDatabase();
  env = { DATABASE_URL: database.url, SIMPLANE_API_KEY: key };
});
afterAll(() => database.drop());

/** Takes a port of loopback; it may be taken already. */
async function take(port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await Promise.race([once(server, 'listening'), once(server, 'error')]).catch(() => {});
  return server;
}

test('metrics are served on loopback only, also where the API listens on every address, and never on the API’s port', async () => {
  const server = await spawnServer({ ...env, HOST: '0.0.0.0' });
  const [, port] = /"host":"127\.0\.0\.1","port":(\d+),"msg":"serving .metrics"/.exec(server.output()) ?? [];
  expect(await server.metrics()).toContain('simplane_executions_total');
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/); // an address that clients can use
  await expect(fetch(`http://127.0.0.2:${port}/metrics`)).rejects.toThrow();
  // As nginx, HAProxy and Caddy forward a request from the same machine.
  for (const headers of [{}, { Via: '1.1 Caddy' }, { 'X-Forwarded-For': '127.0.0.1' }]) {
    const reply = await call({ url: server.url, key }, 'GET', '/metrics', { headers });
    expect([reply.status, reply.json.error.code]).toEqual([404, 'route_missing']);
  }
  expect(await server.end('SIGTERM')).toBe(0);
});

test('a process starts without metrics if another has the default port, and its log says what to set', async () => {
  const holder = await take(9400);
  const server = await spawnServer({ ...env, SIMPLANE_METRICS_PORT: '' });
  expect(server.output()).toContain('metrics: port 9400 of 127.0.0.1 is in use, so this process serves none');
  expect(server.output()).toContain('set SIMPLANE_METRICS_PORT to another port, or to off');
  expect((await call({ url: server.url, key }, 'GET', '/v1/me')).status).toBe(200);
  expect(await server.end('SIGTERM')).toBe(0);
  holder.close();
});

test('a process does not start if the port chosen for its metrics is in use, and says which setting to change', async () => {
  const holder = await take(0);
  const { port } = holder.address() as AddressInfo;
  const { code, stderr } = await runCommand(['serve'], { ...env, SIMPLANE_METRICS_PORT: String(port) });
  expect([code, stderr]).toEqual([
    1,
    `metrics: port ${port} of 127.0.0.1 is in use; set SIMPLANE_METRICS_PORT to a free port, or to off\n`,
  ]);
  holder.close();
});

test('`off` serves no metrics', async () => {
  const server = await spawnServer({ ...env, SIMPLANE_METRICS_PORT: 'off' });
  expect(server.output()).not.toContain('metrics');
  expect((await call({ url: server.url, key }, 'GET', '/metrics')).status).toBe(404);
  expect(await server.end('SIGTERM')).toBe(0);
});
