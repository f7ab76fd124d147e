import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { locateCluster } from './cluster-location.ts';
import { uidsInUse } from './process-table.ts';
import { findUser } from './system-user.ts';

vi.mock(import('./process-table.ts'), { spy: true });

const choosesUser = process.getuid?.() === 0 && (await findUser('simplane')) === null;

test.runIf(choosesUser)('a new database does not run as the user of another process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-cluster-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await chmod(folder, 0o755);
  const locate = () => locateCluster(folder, join(folder, 'elsewhere'));
  const { user } = await locate();
  expect(user.uid).toBeGreaterThanOrEqual(50_000);
  const all = Array.from({ length: 10_000 }, (_, index) => 50_000 + index);
  vi.mocked(uidsInUse).mockResolvedValueOnce(new Set(all));
  await expect(locate()).rejects.toThrow('Found no unused uid from 50000 to 59999');
});
