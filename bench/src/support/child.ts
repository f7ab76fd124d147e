import { fork } from 'node:child_process';
import { once } from 'node:events';

type Reply = { id: number; result?: unknown; error?: string };

/** A child process, so that load and measured code share no event loop. */
export type Child = {
  pid: number;
  call<Result>(task: string, input?: object): Promise<Result>;
  stop(): Promise<void>;
};

export function startChild(program: URL): Child {
  const child = fork(program);
  const pending = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  child.on('message', ({ id, result, error }: Reply) => {
    const request = pending.get(id);
    pending.delete(id);
    if (error === undefined) request?.resolve(result);
    else request?.reject(new Error(error));
  });
  child.once('exit', () => {
    for (const { reject } of pending.values()) reject(new Error(`${program.pathname} exited`));
  });
  return {
    pid: child.pid as number,
    call<Result>(task: string, input: object = {}) {
      const id = ++lastId;
      return new Promise<Result>((resolve, reject) => {
        pending.set(id, { resolve: resolve as (result: unknown) => void, reject });
        child.send({ id, task, input });
      });
    },
    async stop() {
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

type Tasks = Record<string, (input: never) => unknown>;

/** Serves the parent's calls; used by the child program. */
export function serveTasks(tasks: Tasks): void {
  async function answer(id: number, task: string, input: never): Promise<Reply> {
    try {
      return { id, result: (await tasks[task]?.(input)) ?? null };
    } catch (error) {
      return { id, error: String((error as Error).stack ?? error) };
    }
  }
  const send = (reply: Reply) => void process.send?.(reply);
  process.on('message', ({ id, task, input }: { id: number; task: string; input: never }) => {
    answer(id, task, input).then(send, send);
  });
  process.on('disconnect', () => process.exit());
}
