import picocolors from 'picocolors';

export type Colors = ReturnType<typeof picocolors.createColors>;

export type Output = {
  isJson: boolean;
  /** For standard output. */
  colors: Colors;
  /** For standard error. */
  noteColors: Colors;
  /** Whether something that moves may be shown on standard error. */
  isLively: boolean;
  /** A line on standard output. */
  line(text: string): void;
  /** One JSON document on a line of its own, on standard output. */
  json(value: unknown): void;
  /** A line for people, on standard error; nothing with --json. */
  note(text: string): void;
  /** A line on standard error, whoever reads it. */
  complain(text: string): void;
};

export function createOutput(isJson: boolean): Output {
  const { stdout, stderr } = process;
  return {
    isJson,
    colors: picocolors.createColors(mayColor(stdout)),
    noteColors: picocolors.createColors(mayColor(stderr)),
    isLively: !isJson && stderr.isTTY === true && process.env['TERM'] !== 'dumb',
    line: (text) => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note: (text) => {
      if (!isJson) stderr.write(`${text}\n`);
    },
    complain: (text) => void stderr.write(`${text}\n`),
  };
}

/** A reader that has seen enough (`| head`) is no failure; what must be tidied up first says so. */
export function onReaderGone(act: () => void): void {
  process.stdout.removeAllListeners('error').on('error', act);
  process.stderr.removeAllListeners('error').on('error', () => {});
}

/** Colour is for terminals; NO_COLOR (https://no-color.org) turns it off there, FORCE_COLOR on elsewhere. */
function mayColor(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR && FORCE_COLOR !== '0') return true;
  return stream.isTTY === true && TERM !== 'dumb';
}
