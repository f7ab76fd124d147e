import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const { default: program } = require('workerd') as { default: string };
const sdkFolder = fileURLToPath(new URL('../../dist/', import.meta.url));
const useSdk = fileURLToPath(new URL('./use-sdk.mjs', import.meta.url));

const worker = `
import * as sdk from './sdk/index.js';
import { expectedReport, useSdk } from './use-sdk.mjs';

export default {
  async fetch(request) {
    return Response.json({ report: await useSdk(sdk, await request.json()), expectedReport });
  },
};
`;

/** Runs the SDK as a Cloudflare Worker, in their runtime. Its only route calls `useSdk` with the posted settings. */
export async function startWorkerd() {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-workerd-'));
  await writeFile(join(folder, 'worker.mjs'), worker);
  // The config can embed only files below its own folder.
  await copyFile(useSdk, join(folder, 'use-sdk.mjs'));
  await cp(sdkFolder, join(folder, 'sdk'), { recursive: true });
  const sdk = (await readdir(join(folder, 'sdk'))).filter((file) => file.endsWith('.js'));
  const modules = ['worker.mjs', 'use-sdk.mjs', ...sdk.map((file) => `sdk/${file}`)];
  await writeFile(join(folder, 'config.capnp'), configOf(modules));
  // It reports the port that it chose on descriptor 3.
  const child = spawn(program, ['serve', 'config.capnp', '--control-fd=3'], {
    cwd: folder,
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  });
  const ended = once(child, 'close');
  const port = await Promise.race([
    readPort(child.stdio[3] as Readable),
    ended.then(([code]) => Promise.reject(new Error(`workerd exited with ${code}`))),
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function configOf(modules: string[]): string {
  const embedded = modules.map((name) => `(name = "${name}", esModule = embed "${name}")`);
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "internet", network = (allow = ["public", "private"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
);
const main :Workerd.Worker = (
  compatibilityDate = "2024-01-01",
  modules = [
    ${embedded.join(',\n    ')}
  ]
);
`;
}

async function readPort(control: Readable): Promise<number> {
  for await (const line of createInterface(control)) {
    const { event, port } = JSON.parse(line) as { event: string; port: number };
    if (event === 'listen') return port;
  }
  throw new Error('workerd did not report its port');
}
