/** Runs the built SDK in Deno and in Bun against a sandbox. `npm test` runs it in Node, in a browser and in workerd. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { installTemporarily } from './install-temporarily.ts';
import { startSandbox } from './start-sandbox.ts';

const root = new URL('../../', import.meta.url).href;

const sandbox = await startSandbox();
const redirecting = createServer((_, response) => {
  response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end();
}).listen(0, '127.0.0.1');
await once(redirecting, 'listening');
try {
  await check('deno', '2.9.6', (path) => [process.execPath, join(path, 'bin.cjs'), 'eval']);
  // The package of this platform: `bun` itself needs an install script.
  const arch = process.arch === 'arm64' ? 'aarch64' : process.arch;
  const bun = `@oven/bun-${process.platform}-${arch}`;
  await check(bun, '1.4.4', (path) => [join(path, 'bin/bun'), '--eval']);
} finally {
  redirecting.close();
  await sandbox.stop();
}

/** Fails if the SDK behaves otherwise than in Node. */
async function check(name: string, version: string, commandOf: (path: string) => string[]): Promise<void> {
  const { port } = redirecting.address() as AddressInfo;
  const settings = {
    baseUrl: sandbox.url,
    apiKey: sandbox.apiKey,
    redirectingUrl: `http://127.0.0.1:${port}`,
  };
  const program = `
    import * as sdk from '${root}sdk/dist/index.js';
    import { expectedReport, useSdk } from '${root}sdk/test/support/use-sdk.mjs';
    const report = await useSdk(sdk, ${JSON.stringify(settings)});
    console.log(JSON.stringify({ report, expectedReport }));`;
  const runtime = await installTemporarily(name, version);
  try {
    const [command = '', ...args] = commandOf(runtime.path);
    const { stdout } = await promisify(execFile)(command, [...args, program]);
    const { report, expectedReport } = JSON.parse(stdout) as Record<string, object>;
    if (!isDeepStrictEqual(report, expectedReport)) throw new Error(`in ${name}: ${stdout}`);
    console.log(`${name}: ok`);
  } finally {
    await runtime.remove();
  }
}
