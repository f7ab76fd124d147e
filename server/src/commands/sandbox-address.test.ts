import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLog } from '../platform/telemetry/log.ts';
import { publishAddress, readAddress } from './sandbox-address.ts';

test('the address of a sandbox is known while it runs, whatever its port', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-address-'));
  try {
    expect(await readAddress(folder)).toBe(null);
    const published = await publishAddress(folder, 'http://127.0.0.1:4711', createLog('silent'));
    expect(await readAddress(folder)).toBe('http://127.0.0.1:4711');
    const later = await publishAddress(folder, 'http://127.0.0.1:4712', createLog('silent'));
    await published.remove();
    // It leaves that of another process alone.
    expect(await readAddress(folder)).toBe('http://127.0.0.1:4712');
    await later.remove();
    expect(await readAddress(folder)).toBe(null);
    // A killed one leaves its file behind. No process has this id.
    await writeFile(join(folder, 'sandbox-address'), '{"url":"http://127.0.0.1:1","pid":4194305}');
    expect(await readAddress(folder)).toBe(null);
  } finally {
    await rm(folder, { recursive: true });
  }
});
