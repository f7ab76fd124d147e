import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { hasTerminal, inTerminal } from './support/in-terminal.ts';
import { envOf, jsonLines } from './support/run-cli.ts';
import { runHere } from './support/run-here.ts';

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-cli-'));
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const run = (...args: string[]) => runHere(service, ['batches', ...args]);
const idIn = (text: string) => /bat_\w{26}/.exec(text)?.[0] ?? '';

describe('simplane batches', () => {
  it('orders, waits with plain lines, and writes the codes to a file that only its owner reads', async () => {
    const path = join(folder, 'codes.csv');
    await writeFile(path, 'of an earlier batch', { mode: 0o644 });
    const { code, stdout, stderr } = await run('create', 'prod_europe_5gb_30d', '5', '--wait', '--out', path);
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/Orders +5\nSucceeded +5\nFailed +0\nOpen +0\n/),
    ]);
    expect(stderr).toMatch(/Accepted as bat_[\s\S]*5 of 5\n[\s\S]*Written to /);
    expect(stderr + stdout).not.toContain('LPA:');
    expect((await readFile(path, 'utf8')).match(/LPA:1\$/g)).toHaveLength(15); // the code and two links of each
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const listed = jsonLines((await run('list', '--json')).stdout);
    expect(listed).toMatchObject([{ id: idIn(stderr), total: 5, succeeded: 5 }]);
    const archive = join(folder, 'cards.zip');
    await run('get', idIn(stderr), '--out', archive, '--format', 'cards');
    expect((await readFile(archive)).toString('latin1', 0, 2)).toBe('PK');
  });

  it('says how many failed, with the command that shows why, and exits with 1', async () => {
    const { code, stdout, stderr } = await run('create', 'prod_sandbox_declined', '2', '--wait');
    expect([code, stdout]).toEqual([1, expect.stringMatching(/Failed +2\n/)]);
    const command = `simplane executions list --batch ${idIn(stderr)} --status failed`;
    expect(stderr).toContain('2 of 2 orders failed.');
    expect(stderr).toContain(command);
    const failed = await runHere(service, [...command.split(' ').slice(1), '--json']);
    expect(jsonLines(failed.stdout)).toMatchObject([{ status: 'failed' }, { status: 'failed' }]);
  });

  it('cancels, and gives up waiting with exit code 5', async () => {
    const accepted = await run('create', 'prod_sandbox_held', '2');
    const id = idIn(accepted.stdout);
    expect(accepted.stderr).toContain(`simplane batches get ${id} --wait`);
    const waited = await run('get', id, '--wait', '--timeout', '1s');
    expect([waited.code, waited.stderr]).toEqual([
      5,
      expect.stringContaining(`simplane batches get ${id} --wait`),
    ]);
    expect((await run('cancel', id)).stdout).toMatch(/Failed +2, 2 of them canceled\n/);
  });

  it('checks only, with --dry-run, and refuses a file of an unknown kind before it orders', async () => {
    const before = (await run('list', '--json')).stdout;
    const dry = await run('create', 'prod_europe_5gb_30d', '500', '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([
      0,
      expect.stringMatching(/500 orders[\s\S]*500 × prod_europe_5gb_30d/),
    ]);
    const odd = await run('create', 'prod_europe_5gb_30d', '1', '--out', 'codes.pdf');
    expect([odd.code, odd.stderr]).toEqual([2, expect.stringContaining('--out must end in')]);
    expect((await run('create', 'prod_europe_5gb_30d', 'many')).code).toBe(2);
    expect((await run('list', '--json')).stdout).toBe(before);
  });

  it.runIf(hasTerminal)('shows a progress bar on a terminal', async () => {
    const args = 'batches create prod_europe_5gb_30d 3 --wait';
    const { code, stdout } = await inTerminal(args, { env: envOf(service) }).ended;
    expect([code, stdout]).toEqual([0, expect.stringMatching(/[█░]{30} \d of 3/)]);
  });
});
