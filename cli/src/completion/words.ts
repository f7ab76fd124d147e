import { eventTypeNames } from '@simplane/contract';
import type { Command } from 'commander';

type Word = { text: string; help: string };

/** What may follow at one place: after these commands, or after this option of theirs. */
export type Place = {
  /** `esims create`; empty at the start. */
  path: string;
  words: Word[];
  /** By option: the values it takes. */
  values: Map<string, string[]>;
};

/** Every place of the command line, with what may follow there. */
export function placesOf(program: Command): Place[] {
  const found: Place[] = [];
  const visit = (command: Command, path: string[]) => {
    found.push(placeOf(program, command, path.join(' ')));
    for (const part of command.commands) visit(part, [...path, part.name()]);
  };
  visit(program, []);
  return found;
}

function placeOf(program: Command, command: Command, path: string): Place {
  const options = [...new Set([...command.options, ...program.options])].filter(({ hidden }) => !hidden);
  const values = new Map<string, string[]>();
  for (const { long, argChoices } of options) if (long && argChoices) values.set(long, [...argChoices]);
  if (options.some(({ long }) => long === '--events')) values.set('--events', eventTypeNames);
  if (options.some(({ long }) => long === '--type')) values.set('--type', eventTypeNames);
  return {
    path,
    values,
    words: [
      ...command.commands.map((part) => ({ text: part.name(), help: part.description() })),
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
