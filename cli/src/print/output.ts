import picocolors from 'picocolors';
import { cleanJson } from './clean.ts';

export type Colors = ReturnType<typeof picocolors.createColors>;

export type Output = {
  isJson: boolean;
  /** For standard output. */
  colors: Colors;
  /** For standard error. */
  noteColors: Colors;
  /** Cells per line that a table may use; null if standard output is not a terminal. */
  width: number | null;
  /** Whether standard error may show an animated progress line. */
  showsProgress: boolean;
  /** Prints a line on standard output. */
  line(text: string): void;
  /** Prints a JSON document as one line on standard output. */
  json(value: unknown): void;
  /** Prints a hint on standard error; omitted with --json. */
  note(text: string): void;
  /** Prints a line on standard error, also with --json. */
  error(text: string): void;
};

export function createOutput(isJson: boolean): Output {
  const { stdout, stderr } = process;
  return {
    isJson,
    colors: picocolors.createColors(supportsColor(stdout)),
    noteColors: picocolors.createColors(supportsColor(stderr)),
    width: stdout.isTTY === true ? stdout.columns || null : null,
    showsProgress: !isJson && stderr.isTTY === true && process.env['TERM'] !== 'dumb',
    line: (text) => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${cleanJson(value)}\n`),
    note: (text) => {
      if (!isJson) stderr.write(`${text}\n`);
    },
    error: (text) => void stderr.write(`${text}\n`),
  };
}

/** Waits while the reader of standard output is slower than we write, so that nothing piles up in memory. */
export function untilDrained(stopped: AbortSignal): Promise<void> {
  const { stdout } = process;
  if (!stdout.writableNeedDrain || stopped.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stdout.off('drain', done);
      stopped.removeEventListener('abort', done);
      resolve();
    };
    stdout.once('drain', done);
    stopped.addEventListener('abort', done);
  });
}

/** Replaces the action taken when standard output is closed (`| head`), which is not an error. */
export function onStdoutClosed(act: () => void): void {
  process.stdout.removeAllListeners('error').on('error', act);
  process.stderr.removeAllListeners('error').on('error', () => {});
}

/** Color is on for terminals. NO_COLOR (https://no-color.org) turns it off, FORCE_COLOR on. */
function supportsColor(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR && FORCE_COLOR !== '0') return true;
  return stream.isTTY === true && TERM !== 'dumb';
}
