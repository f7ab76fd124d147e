/** A mistake of the person at the terminal: the message is printed alone, without a stack. */
export class CommandError extends Error {
  override name = 'CommandError';
}
