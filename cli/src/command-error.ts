import { exitCodes } from './exit-codes.ts';

/** An error with a message for the user and, where there is one, a next step. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly nextStep: string | undefined;
  readonly exitCode: number;

  constructor(message: string, { nextStep, exitCode }: { nextStep?: string; exitCode: number }) {
    super(message);
    this.nextStep = nextStep;
    this.exitCode = exitCode;
  }
}

/** An invalid command line that the parser itself cannot detect. */
export function usageError(message: string, nextStep?: string): CommandError {
  return new CommandError(message, { ...(nextStep && { nextStep }), exitCode: exitCodes.usage });
}
