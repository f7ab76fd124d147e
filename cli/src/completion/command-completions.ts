import { eventTypeNames } from '@simplane/contract';
import type { Command } from 'commander';

type Word = { text: string; help: string };

/** The words that can follow one command, and the values its options accept. */
export type CommandCompletions = {
  /** Such as `esims create`; empty for the program itself. */
  path: string;
  words: Word[];
  /** Accepted values by option. */
  values: Map<string, string[]>;
};

export function completionsOf(program: Command): CommandCompletions[] {
  const found: CommandCompletions[] = [];
  const visit = (command: Command, path: string[]) => {
    found.push(completionsOfCommand(program, command, path.join(' ')));
    for (const subcommand of command.commands) visit(subcommand, [...path, subcommand.name()]);
  };
  visit(program, []);
  return found;
}

function completionsOfCommand(program: Command, command: Command, path: string): CommandCompletions {
  const options = [...new Set([...command.options, ...program.options])].filter(({ hidden }) => !hidden);
  const values = new Map<string, string[]>();
  for (const { long, argChoices } of options) if (long && argChoices) values.set(long, [...argChoices]);
  if (options.some(({ long }) => long === '--events')) values.set('--events', eventTypeNames);
  if (options.some(({ long }) => long === '--type')) values.set('--type', eventTypeNames);
  return {
    path,
    values,
    words: [
      ...command.commands.map((subcommand) => ({ text: subcommand.name(), help: subcommand.description() })),
      ...argumentsOf(command, path).map((text) => ({ text, help: '' })),
      ...options.map(({ long, description }) => ({ text: long ?? '', help: description })),
      { text: '--help', help: 'show help' },
    ],
  };
}

function argumentsOf(command: Command, path: string): readonly string[] {
  if (path === 'trigger') return eventTypeNames;
  return command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
}
