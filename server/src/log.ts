import { type DestinationStream, type Logger, pino } from 'pino';

/**
 * Lines are built from named fields, never from whole requests. This is the net below that rule: a key, a signing
 * secret or an activation code that reached a line by way of a path or an error's message does not reach the log.
 */
export function createLog(level: string, destination?: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: (line: string) => line.replace(secrets, '[redacted]') },
  };
  return destination ? pino(options, destination) : pino(options);
}

const secrets = /sp_(?:test|live)_[^\s"\\]+|whsec_[\w+/=-]+|(?:LPA:)?1\$[\w.-]+\$[\w-]+(?:\$[\w.$-]*)?/g;
