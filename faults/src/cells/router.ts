import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { type Cell, freePort } from './cell.ts';

export type Router = {
  url: string;
  /** Adds the lines that `accounts move` has printed, and makes HAProxy read them. */
  learn(lines: string): Promise<void>;
  stop(): Promise<void>;
};

const page = new URL('../../../docs/cells.md', import.meta.url);

/** HAProxy with the configuration that docs/cells.md shows, on a port of this machine. */
export async function startRouter(cells: readonly Cell[]): Promise<Router> {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-router-'));
  const port = await freePort();
  await writeFile(join(folder, 'haproxy.cfg'), await configure(folder, port, cells));
  await writeFile(join(folder, 'cells.map'), 'eu eu\n');
  const moved = new Map<string, string>();
  await writeFile(join(folder, 'moved.map'), '');
  let haproxy = await run(folder, port);
  return {
    url: `http://127.0.0.1:${port}`,
    async learn(lines) {
      for (const line of lines.split('\n').filter(Boolean)) {
        const [hash, cell] = line.split(' ') as [string, string];
        moved.set(hash, cell);
      }
      await writeFile(join(folder, 'moved.map'), [...moved].map((entry) => `${entry.join(' ')}\n`).join(''));
      const ended = once(haproxy, 'close');
      haproxy.kill('SIGTERM');
      await ended;
      haproxy = await run(folder, port);
    },
    async stop() {
      const ended = once(haproxy, 'close');
      haproxy.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Only addresses, folders and time-outs are not as on the page. */
async function configure(folder: string, port: number, cells: readonly Cell[]): Promise<string> {
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/```haproxy\n([^`]*)```/g)].map(
    ([, text]) => text,
  );
  const [whole, ofMoved] = blocks as [string, string];
  let text = whole
    .replace('  use_backend', `${ofMoved}  use_backend`)
    .replace(/bind .*/, `bind 127.0.0.1:${port}`)
    .replaceAll('/etc/haproxy', folder);
  for (const cell of cells)
    text = text.replace(new RegExp(`server ${cell.name} .*`), `server ${cell.name} 127.0.0.1:${cell.port}`);
  return `defaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n\n${text.replaceAll('/etc/haproxy', folder)}`;
}

async function run(folder: string, port: number): Promise<ChildProcess> {
  const haproxy = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  haproxy.once('error', (error) => {
    throw new Error(
      `HAProxy does not run here (${error.message}): install it, for example with \`apt-get install haproxy\``,
    );
  });
  const answers = () =>
    fetch(`http://127.0.0.1:${port}/livez`).then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(answers, 20_000);
  return haproxy;
}
