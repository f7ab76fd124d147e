import { describeDatabaseError } from '../db/describe-error.ts';
import { clip } from './clip.ts';

const longestMessage = 1_000;
const mostFrames = 20;

/** What a log line may say of an error: where it came from, and of a database error no message, since it quotes values. */
export function describeCause(cause: unknown): object | undefined {
  if (!(cause instanceof Error)) return cause === undefined ? undefined : { type: typeof cause };
  const frames = cause.stack?.split('\n').filter((line) => line.startsWith('    at '));
  const described = describeDatabaseError(cause) ?? { message: clip(cause.message, longestMessage) };
  return { type: clip(cause.name), ...described, frames: frames?.slice(0, mostFrames) };
}
