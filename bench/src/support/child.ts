import { fork } from 'node:child_process';
import { once } from 'node:events';

type Reply = { id: number; result?: unknown; error?: string };

/** A program in a process of its own, so that it shares no event loop with what it measures. */
export type Child = {
  ask<Result>(task: string, input?: object): Promise<Result>;
  stop(): Promise<void>;
};

export function startChild(program: URL): Child {
  const child = fork(program);
  const waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  let asked = 0;
  child.on('message', ({ id, result, error }: Reply) => {
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve(result);
    else one?.reject(new Error(error));
  });
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error(`${program.pathname} ended`));
  });
  return {
    ask<Result>(task: string, input: object = {}) {
      const id = ++asked;
      return new Promise<Result>((resolve, reject) => {
        waiting.set(id, { resolve: resolve as (result: unknown) => void, reject });
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

/** The other end, in the program itself. */
export function answerTasks(tasks: Tasks): void {
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
