import { type DestinationStream, type Logger, pino } from 'pino';
import { redact } from './redact.ts';

/**
 * Lines are built from named fields, never from whole requests. This is the net below that rule: a key, a signing
 * secret or an activation code that reached a line by way of a path or an error's message does not reach the log.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: createTimestamp(),
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: redact },
  };
  return pino(options, destination ?? createOutput());
}

/** Lines of one millisecond share its text. */
function createTimestamp(): () => string {
  let [lastMs, text] = [0, ''];
  return () => {
    const nowMs = Date.now();
    if (nowMs !== lastMs) text = `,"time":"${new Date(nowMs).toISOString()}"`;
    lastMs = nowMs;
    return text;
  };
}

// A turn that has more to say writes in between.
const mostGathered = 16 * 1024;

/** Standard output, with the lines of one turn of the event loop in one write: a write a line cost a twentieth of an order. */
function createOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true });
  let lines = '';
  const flush = () => {
    if (lines !== '') output.write(lines);
    lines = '';
  };
  process.once('exit', flush);
  return {
    write(line) {
      if (lines === '') setImmediate(flush);
      lines += line;
      if (lines.length > mostGathered) flush();
    },
  };
}
