import { exitCodes } from './exit-codes.ts';

/** What went wrong, in words for the person at the terminal, and what to do next. */
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

/** The command line is wrong, in a way that the parser cannot know. */
export function usageError(message: string, nextStep?: string): CommandError {
  return new CommandError(message, { ...(nextStep && { nextStep }), exitCode: exitCodes.usage });
}
