import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnServer } from '../../server/test/support/process.ts';
import { startCli } from './support/run-cli.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-beside-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const whoami = (env: Record<string, string> = {}, cwd = folder) => startCli(['whoami'], { cwd, env }).ended;

describe('beside a sandbox on another port', () => {
  it('a command finds its address, and notices that it was stopped or killed', async () => {
    const file = join(folder, '.simplane/sandbox-address');
    const first = await spawnServer({}, { cwd: folder });
    expect(first.url).not.toMatch(/:4000$/);
    const found = await whoami();
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining(first.url) });
    expect(found.stdout).toContain('from .simplane/sandbox-address');
    const other = { SIMPLANE_BASE_URL: 'http://127.0.0.1:9' };
    expect(await whoami(other)).toMatchObject({ code: 3, stderr: expect.stringContaining('127.0.0.1:9') });
    const dataDir = { SIMPLANE_DATA_DIR: join(folder, '.simplane') };
    expect(await whoami(dataDir, '/')).toMatchObject({ code: 0 });

    await first.end('SIGTERM');
    expect(existsSync(file)).toBe(false);

    const second = await spawnServer({}, { cwd: folder });
    expect((await whoami()).stdout).toContain(second.url);
    await second.end('SIGKILL');
    expect(existsSync(file)).toBe(true);
    const left = await whoami();
    expect(left.code).not.toBe(0);
    expect(left.stderr).toContain(`last at ${second.url}, is not running`);
  });

  it('an address outside this machine, or a malformed file, is ignored', async () => {
    const cwd = await mkdtemp(join(folder, 'foreign-'));
    await mkdir(join(cwd, '.simplane'));
    const pid = process.pid;
    for (const text of [
      JSON.stringify({ url: 'http://192.0.2.1:4000', pid }),
      JSON.stringify({ url: 'http://127.0.0.1:4001@192.0.2.1:80', pid }),
      JSON.stringify({ url: 'http://127.0.0.1:4001', pid: 'x' }),
      '{"url',
      'null',
    ]) {
      await writeFile(join(cwd, '.simplane/sandbox-address'), text);
      const { code, stderr } = await whoami({}, cwd);
      expect({ code, stderr }).toEqual({ code: 4, stderr: expect.stringContaining('http://127.0.0.1:4000') });
    }
  });
});
