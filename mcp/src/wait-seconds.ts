import { InvalidArgument } from './invalid-argument.ts';
import type { JsonSchema } from './schema.ts';
import type { ToolContext } from './tool.ts';

// Half of the usual client timeout.
const maximum = 30;

type Bounds = { minimum: number; default: number };

/** The argument `wait_seconds` of a tool that can wait. */
export function waitSecondsSchema(bounds: Bounds, what: string): JsonSchema {
  return {
    type: 'integer',
    ...bounds,
    maximum,
    description: `Seconds to wait for ${what}; at most ${maximum}.`,
  };
}

export function parseWaitSeconds(value: unknown, bounds: Bounds): number {
  const seconds = value ?? bounds.default;
  if (Number.isInteger(seconds) && (seconds as number) >= bounds.minimum && (seconds as number) <= maximum) {
    return seconds as number;
  }
  throw new InvalidArgument(
    'wait_seconds',
    `wait_seconds must be an integer from ${bounds.minimum} to ${maximum}; call again to wait longer.`,
  );
}

/** Runs with a signal that aborts when the client cancels or the server stops. */
export async function withEndOfWait<Result>(
  { signal, stopping }: Pick<ToolContext, 'signal' | 'stopping'>,
  run: (ended: AbortSignal) => Promise<Result>,
): Promise<Result> {
  // Not AbortSignal.any: on Node 20 every call would leak a listener on `stopping`.
  const ended = new AbortController();
  const abort = () => ended.abort();
  const signals = [signal, ...(stopping ? [stopping] : [])];
  for (const source of signals) source.addEventListener('abort', abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  try {
    return await run(ended.signal);
  } finally {
    for (const source of signals) source.removeEventListener('abort', abort);
  }
}
