import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CoreCommand, History } from '../history/history.ts';
import { note } from '../history/note.ts';
import type { Random } from '../random.ts';

export type RecordingCore = {
  url: string;
  /** From now on every command is answered without faults. Returns whether it has lost states that it had. */
  heal(): boolean;
  stop(): Promise<void>;
};

// Longer than a worker waits for an answer.
const lateMs = 1_500;
// A backup is made after so many commands, and restored after as many more.
const backupAfter = 12;

/**
 * The operator's core in the checker's process. It keeps the highest version of each eSIM, as the guide says, and records every command.
 * Some it does not answer, answers late, or answers with 500 after it has applied them; once it is restored from an old backup.
 */
export async function startCore(history: History, random: Random): Promise<RecordingCore> {
  const { core } = history;
  let isHealed = false;
  let backup: Map<string, CoreCommand> | null = null;
  let wasRestored = false;

  function restoreOnce(): void {
    if (isHealed || wasRestored || core.commands.length < backupAfter) return;
    backup ??= new Map(core.lines);
    if (core.commands.length < 2 * backupAfter) return;
    wasRestored = true;
    core.lines.clear();
    for (const [iccid, command] of backup) core.lines.set(iccid, command);
    note(history, 'the core is restored from an old backup');
  }

  function answer(body: string, response: ServerResponse): void {
    const { iccid, version, state, reason } = JSON.parse(body) as CoreCommand;
    core.commands.push({ iccid, version, state, reason, body });
    restoreOnce();
    const fault = isHealed ? 'none' : random.weigh(faults);
    if (fault === 'hung') return;
    const known = core.lines.get(iccid);
    if (!known || known.version < version) core.lines.set(iccid, { iccid, version, state, reason, body });
    const end = () => response.writeHead(fault === 'lied' ? 500 : 200).end();
    if (fault === 'late') setTimeout(end, lateMs).unref();
    else end();
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => answer(Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heal() {
      isHealed = true;
      return wasRestored;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const faults = [
  ['none', 80],
  ['lied', 9],
  ['late', 6],
  ['hung', 5],
] as const;
