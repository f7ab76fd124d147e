import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { stopOrphan } from './orphan.ts';
import { describeEnding, keepTail } from './run-command.ts';
import { removeSocketFolder } from './socket-folder.ts';
import { type SystemUser, spawnOptionsFor } from './system-user.ts';

export type Ending = { how: string; stderr: string };

export type Supervised = {
  /** Resolves when postgres has exited, for any reason, and its socket folder is removed. */
  ended: Promise<Ending>;
  stop(): Promise<void>;
};

/**
 * Runs postgres under a shell that reads a pipe from us. If this process ends, even by SIGKILL, the pipe closes
 * and the shell stops postgres. stop() closes it too, so the same shutdown path is always exercised.
 */
export function supervise(server: {
  user: SystemUser;
  postgres: string;
  cluster: string;
  socketDir: string;
  settings: string[];
  unrelatedPid: number | null;
  fastShutdownMs: number;
}): Supervised {
  const { user, postgres, cluster, socketDir, settings, unrelatedPid, fastShutdownMs } = server;
  const tenths = String(Math.ceil(fastShutdownMs / 100));
  const options = spawnOptionsFor(user);
  // postgres treats a lock file with its grandparent's pid as stale. Passing off an unrelated process as the grandparent
  // uses that; deleting the file instead would skip the shared memory check.
  const env = unrelatedPid ? { ...options.env, PG_GRANDPARENT_PID: String(unrelatedPid) } : options.env;

  const shell = spawn(
    '/bin/sh',
    ['-c', script, 'simplane-postgres', postgres, cluster, socketDir, tenths, ...settings],
    // Detached: Ctrl-C goes to the whole process group, and postgres must outlive our own shutdown.
    { ...options, env, detached: true, stdio: ['pipe', 'ignore', 'pipe'] },
  );
  const stderr = keepTail(shell.stderr);
  shell.stdin.on('error', () => {});

  const exited = new Promise<string>((resolve) => {
    shell.once('exit', (code, signal) => resolve(describeEnding(code, signal)));
    shell.once('error', (error) => resolve(`could not be started: ${error.message}`));
  });
  const closed = once(shell, 'close').catch(() => {});

  const ended = exited.then(async (how) => {
    // The last output may still be in the pipe. Bounded, because a postgres that outlives its shell keeps the pipe open.
    await Promise.race([closed, delay(500, undefined, { ref: false })]);
    const leftOver = await stopOrphan(cluster).then(() => '', String);
    await removeSocketFolder(socketDir);
    return { how, stderr: stderr() + leftOver };
  });

  return {
    ended,
    async stop() {
      shell.stdin.end();
      const deadline = delay(fastShutdownMs + immediateShutdownMs, 'late', { ref: false });
      if ((await Promise.race([ended, deadline])) === 'late') await stopOrphan(cluster, [['SIGKILL', 3_000]]);
    },
  };
}

// In an immediate shutdown, postgres kills children that are still running after 5 s.
const immediateShutdownMs = 7_000;

// The shell ignores signals that a supervisor sends to the whole control group. SIGINT is repeated, because one sent
// before postgres has installed its handlers would be lost.
const script = `
trap '' HUP INT TERM
postgres=$1 cluster=$2 sockets=$3 tenths=$4
shift 4
exec 3<&0
"$postgres" -D "$cluster" "$@" </dev/null 3<&- &
server=$!
{
  exec >/dev/null 2>&1
  read -r _ <&3
  n=0
  while [ $n -lt $tenths ]; do
    kill -INT $server || exit
    sleep 0.1
    n=$((n + 1))
  done
  while kill -QUIT $server; do sleep 1; done
} &
watcher=$!
exec 3<&- </dev/null
wait $server
code=$?
kill -KILL $watcher
rm -rf -- "$sockets"
exit $code
`;
