/**
 * Runs docs/other-languages.md: generates a client in each language, lets its program make a first order in a sandbox, and verifies
 * a real delivery with each verifier. A language whose tools are not installed is named and left out.
 */
import { type ExecFileOptions, execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from './start-sandbox.ts';

const root = new URL('../../', import.meta.url);
const page = await readFile(new URL('docs/other-languages.md', root), 'utf8');

/** Sections of the page, with the program that its commands need. */
const sections = { Python: 'python3', Go: 'go', Java: 'mvn' };
const verifiers: [file: string, tool: string, args: string[]][] = [
  ['verify.py', 'python3', []],
  ['verify.go', 'go', ['run']],
  ['Verify.java', 'java', []],
  ['verify.php', 'php', []],
  ['verify.rb', 'ruby', []],
  ['Verify.cs', 'dotnet', ['run']],
];

const folder = await mkdtemp(join(tmpdir(), 'simplane-languages-'));
const sandbox = await startSandbox();
const env = { ...process.env, SIMPLANE_URL: sandbox.url, SIMPLANE_API_KEY: sandbox.apiKey };
try {
  for (const [name, tool] of Object.entries(sections)) {
    if (await isMissing(tool)) console.log(`${name}: not checked, because ${tool} is not installed`);
    else await orderIn(name);
  }
  await verifyEverywhere(await receiveOne());
} finally {
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
}

/** Runs the commands of a section, which end with its program. */
async function orderIn(name: string): Promise<void> {
  const cwd = join(folder, name);
  await mkdir(cwd);
  await copyFile(new URL('contract/openapi.json', root), join(cwd, 'openapi.json'));
  const text = page.split(/^## /m).find((section) => section.startsWith(`${name}\n`)) ?? '';
  await writeFiles(text, cwd);
  const [, commands = ''] = /```sh\n([\s\S]*?)```/.exec(text) ?? [];
  // Packages of Python go into a folder of their own, as on a developer's machine.
  const prepare = name === 'Python' ? 'python3 -m venv .venv && . .venv/bin/activate\n' : '';
  const { stdout } = await run('bash', ['-ec', prepare + commands], { cwd, env });
  if (!/succeeded LPA:1\$/i.test(stdout) || !stdout.includes('resource_missing')) {
    throw new Error(
      `${name}: the program did not order and install, or saw no error:\n${stdout.slice(-2_000)}`,
    );
  }
  console.log(`${name}: generated, compiled; ordered, installed and got an error`);
}

type Delivery = { rawBody: Buffer; header: string; secret: string };

async function verifyEverywhere({ rawBody, header, secret }: Delivery): Promise<void> {
  for (const [file, tool, args] of verifiers) {
    if (await isMissing(tool)) {
      console.log(`${file}: not checked, because ${tool} is not installed`);
      continue;
    }
    const cwd = join(folder, file);
    await mkdir(cwd);
    await writeFiles(page, cwd, file);
    const accepts = (body: Buffer, by: string) =>
      run(tool, [...args, file, header], { cwd, env: { ...env, WEBHOOK_SECRET: by } }, body).then(
        () => true,
        () => false,
      );
    const changed = Buffer.concat([rawBody, Buffer.from(' ')]);
    const verdicts = [
      await accepts(rawBody, secret),
      await accepts(changed, secret),
      await accepts(rawBody, `${secret}x`),
    ];
    if (verdicts.join() !== 'true,false,false') throw new Error(`${file}: accepted ${verdicts.join()}`);
    console.log(`${file}: accepts a real delivery, refuses a changed body and another secret`);
  }
}

/** Makes the sandbox deliver an event with characters beyond ASCII. */
async function receiveOne(): Promise<Delivery> {
  let resolve: (delivery: Omit<Delivery, 'secret'>) => void = () => {};
  const promise = new Promise<Omit<Delivery, 'secret'>>((received) => {
    resolve = received;
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.end();
      resolve({ rawBody: Buffer.concat(chunks), header: String(request.headers['service-signature']) });
    });
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  const { port } = server.address() as AddressInfo;
  const endpoint = { url: `http://127.0.0.1:${port}/`, enabled_event_types: ['*'] };
  const { secret } = (await post('/v1/webhook_endpoints', endpoint)) as { secret: string };
  await post('/v1/events/test', { type: 'esim.provisioned', data: { note: 'Zürich → 東京' } });
  const delivery = await promise;
  server.close();
  return { ...delivery, secret };
}

async function post(path: string, body: object): Promise<unknown> {
  const headers = { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' };
  return (await fetch(sandbox.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
}

/** The programs of a text name their file in the first line. */
async function writeFiles(text: string, cwd: string, only?: string): Promise<void> {
  for (const [, program = ''] of text.matchAll(/```\w+\n([\s\S]*?)```/g)) {
    const [, file] = /^(?:<\?php )?(?:#|\/\/) (\w+\.\w+)\n/.exec(program) ?? [];
    if (file && (only ?? file) === file) await writeFile(join(cwd, file), program);
  }
}

async function isMissing(tool: string): Promise<boolean> {
  return run('bash', ['-c', `command -v ${tool}`], {}).then(
    () => false,
    () => true,
  );
}

function run(command: string, args: string[], options: ExecFileOptions, input?: Buffer) {
  return new Promise<{ stdout: string }>((resolve, reject) => {
    const settings = { maxBuffer: 64_000_000, ...options };
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      if (error)
        reject(
          new Error(`${command} failed:\n${stdout.slice(-4_000)}${stderr.slice(-4_000)}`, { cause: error }),
        );
      else resolve({ stdout: String(stdout) });
    });
    child.stdin?.end(input);
  });
}
