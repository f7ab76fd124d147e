/** A usage error: only the message is printed, without a stack. */
export class CommandError extends Error {
  override name = 'CommandError';
}
