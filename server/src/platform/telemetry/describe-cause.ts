import { describeDatabaseError } from '../db/describe-error.ts';
import { clip } from './clip.ts';

const maxMessageLength = 1_000;
const maxFrames = 20;

/** The parts of an error that are safe to log. The message of a database error is left out, because it quotes values. */
export function describeCause(cause: unknown): object | undefined {
  if (!(cause instanceof Error)) return cause === undefined ? undefined : { type: typeof cause };
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at '));
  const described = describeDatabaseError(cause) ?? { message: clip(cause.message, maxMessageLength) };
  return { type: clip(cause.name), ...described, frames: frames?.slice(0, maxFrames) };
}
