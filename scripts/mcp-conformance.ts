/** Runs the protocol's official conformance suite against a sandbox. Fails on any failure not listed in mcp/conformance. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installTemporarily } from './install-temporarily.ts';
import { startSandbox } from './start-sandbox.ts';

const folder = new URL('../../mcp/conformance/', import.meta.url);
const runs = [
  { version: '0.1.16', baseline: 'expected-failures-2025-11-25.yml', args: [] },
  {
    version: '0.2.0-alpha.12',
    baseline: 'expected-failures-2026-07-28.yml',
    args: ['--requirements', '2026-07-28'],
  },
];

const sandbox = await startSandbox();
const proxy = await startProxy(sandbox);
let failed = false;
try {
  for (const { version, baseline, args } of runs) {
    const suite = await installTemporarily('@modelcontextprotocol/conformance', version);
    const expected = ['--expected-failures', fileURLToPath(new URL(baseline, folder))];
    const program = join(suite.path, 'dist/index.js');
    const hook = fileURLToPath(new URL('without-glob.mjs', folder));
    const url = `http://localhost:${proxy.port}/mcp`;
    const child = spawn(
      process.execPath,
      ['--import', hook, program, 'server', '--url', url, ...expected, ...args],
      { stdio: 'inherit' },
    );
    const [code] = await once(child, 'close');
    failed ||= code !== 0;
    await suite.remove();
  }
} finally {
  proxy.stop();
  await sandbox.stop();
}
process.exitCode = failed ? 1 : 0;

/** The suite cannot send an API key, so this proxy adds it. */
async function startProxy({ url, apiKey }: { url: string; apiKey: string }) {
  const { hostname, port } = new URL(url);
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const forwarded = send(
      { hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${apiKey}` } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
