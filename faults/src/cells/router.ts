import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';
import { freePort } from './cell.ts';

export type Router = {
  url: string;
  /** Adds the lines that `accounts move` has printed, and makes HAProxy read them. */
  learn(lines: string): Promise<void>;
  stop(): Promise<void>;
};

const page = new URL('../../../docs/cells.md', import.meta.url);

/** Where backends are on this machine, by their names. */
type Ports = Record<string, number>;

/** HAProxy with a configuration for `/etc/haproxy`, on a port of this machine. Only addresses and folders are changed. */
export async function startRouter(
  configuration: string,
  cellsMap: string,
  backends: Ports,
  givenPort?: number,
): Promise<Router> {
  const folder = await mkdtemp(join(tmpdir(), 'simplane-router-'));
  const port = givenPort ?? (await freePort());
  await writeFile(join(folder, 'haproxy.cfg'), place(configuration, folder, port, backends));
  await writeFile(join(folder, 'cells.map'), cellsMap);
  const moved = new Map<string, string>();
  await writeFile(join(folder, 'moved.map'), '');
  let haproxy = await run(folder, port);
  let learning = Promise.resolve();
  return {
    url: `http://127.0.0.1:${port}`,
    learn(lines) {
      for (const line of lines.split('\n').filter(Boolean)) {
        const [hash, cell] = line.split(' ') as [string, string];
        moved.set(hash, cell);
      }
      // Two moves may end at once.
      learning = learning.then(async () => {
        await writeFile(
          join(folder, 'moved.map'),
          [...moved].map((entry) => `${entry.join(' ')}\n`).join(''),
        );
        const ended = once(haproxy, 'close');
        haproxy.kill('SIGTERM');
        await ended;
        haproxy = await run(folder, port);
      });
      return learning;
    },
    async stop() {
      const ended = once(haproxy, 'close');
      haproxy.kill('SIGTERM');
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function place(configuration: string, folder: string, port: number, backends: Ports): string {
  return configuration
    .replace(/bind .*/, `bind 127.0.0.1:${port}`)
    .replace(/^( +server (\S+)) .*/gm, (_, server, name) => `${server} 127.0.0.1:${backends[name]}`)
    .replaceAll('/etc/haproxy', folder);
}

/** The sections that docs/cells.md shows: the router, with the lines for what was moved. */
export async function documentedSections(): Promise<string> {
  const blocks = [...(await readFile(page, 'utf8')).matchAll(/```haproxy\n([^`]*)```/g)].map(
    ([, text]) => text,
  );
  const [whole, ofMoved] = blocks as [string, string];
  return whole.replace('  use_backend', `${ofMoved}  use_backend`);
}

async function run(folder: string, port: number): Promise<ChildProcess> {
  const haproxy = spawn('haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const end = () => void haproxy.kill('SIGKILL');
  process.once('exit', end);
  haproxy.once('close', () => process.off('exit', end));
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
  if (!(await until(answers, 20_000))) throw new Error('HAProxy does not answer');
  return haproxy;
}
