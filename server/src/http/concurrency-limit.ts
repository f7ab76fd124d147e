import { AppError } from '../app-error.ts';

export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

/** Lets so many run at once; the next wait in line, and where the line is full they are told to come back. */
export function createTurns({ atOnce, inLine }: { atOnce: number; inLine: number }): Turns {
  let running = 0;
  const line: (() => void)[] = [];

  return async (work) => {
    if (running >= atOnce) await standInLine();
    else running += 1;
    try {
      return await work();
    } finally {
      const next = line.shift();
      if (next)
        next(); // takes over this turn
      else running -= 1;
    }
  };

  function standInLine(): Promise<void> {
    if (line.length >= inLine) {
      throw new AppError('unavailable', 'Too many of these requests at once; send it again shortly.', {
        headers: { 'Retry-After': '1' },
      });
    }
    return new Promise((resolve) => line.push(resolve));
  }
}
