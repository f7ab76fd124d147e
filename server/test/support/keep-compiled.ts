import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Runs a server once, so that the next ones find its compiled code beside the bundle. */
export async function keepCompiled(programs: string, databaseUrl: string): Promise<void> {
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', HOST: '127.0.0.1', PORT: '0', SIMPLANE_METRICS_PORT: '0' },
    ...{ SIMPLANE_API_KEY: 'sp_test_keep_compiled_code', DATABASE_URL: databaseUrl, KEEP_COMPILED: '1' },
  };
  const child = spawn(process.execPath, [join(programs, 'simplane-server.mjs'), 'serve'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line.includes('is ready at ')) child.kill('SIGTERM');
  }
  const [code] = await closed;
  if (code !== 0) throw new Error(`the bundled server ended with ${code}:\n${lines.join('\n')}`);
}
