import { readFile } from 'node:fs/promises';
import { type Schema, Validator } from '@cfworker/json-schema';
import { eventDataFields, eventTypeNames, fieldsOfEvent } from '@simplane/contract';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../src/exit-codes.ts';
import { createProgram } from '../src/program.ts';
import { sampleDataOf } from '../src/sample-event.ts';
import { root, startCli } from './support/run-cli.ts';

/** Every leaf command by its full name. */
function commandsOf(command: Command, path: string[] = []): Map<string, Command> {
  if (command.commands.length === 0) return new Map([[path.join(' '), command]]);
  return new Map(command.commands.flatMap((part) => [...commandsOf(part, [...path, part.name()])]));
}

const commands = commandsOf(createProgram());

const pages = ['docs/cli.md', 'README.md'];
const textOf = (page: string) => readFile(root + page, 'utf8');

describe('the documentation', () => {
  it('lists every command once, with its arguments and options', async () => {
    const text = await textOf('docs/cli.md');
    const listed = [...text.matchAll(/^\| (`simplane [^`]+`)/gm)].map(([, usage]) => usage);
    expect(listed.filter((usage, index) => listed.indexOf(usage) !== index)).toEqual([]);
    const missing = [...commands].flatMap(([name, command]) => {
      const usage = [name, ...command.registeredArguments.map(argumentOf)].join(' ');
      const [, section = ''] = text.split(`\`simplane ${usage}\``);
      const row = section.slice(0, section.indexOf('\n'));
      return [
        ...(section === '' ? [usage] : []),
        ...command.options.flatMap(({ long }) =>
          long && !`${row}${sharedOptions(text)}`.includes(long) ? [`${name} ${long}`] : [],
        ),
      ];
    });
    expect(missing).toEqual([]);
  });

  it.each(pages)('%s shows only valid command lines', async (page) => {
    const lines = [...(await textOf(page)).matchAll(/^(?:\$ )?(?:npx )?simplane ([^#|&\n]*)/gm)].map(
      ([, rest = '']) => rest.trim(),
    );
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) {
      const words = line.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
      const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((path) => commands.has(path));
      expect(name, line).toBeDefined();
      const command = commands.get(name ?? '');
      const known = [...(command?.options ?? []), ...createProgram().options].map(({ long }) => long);
      for (const word of words.filter((word) => word.startsWith('--'))) expect(known, line).toContain(word);
    }
  });

  it('lists every exit code', async () => {
    const text = await textOf('docs/cli.md');
    for (const code of Object.values(exitCodes)) expect(text).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
  });
});

describe('help', () => {
  it('exists for every command and shows its usage', () => {
    for (const [name, command] of commands) {
      expect(command.description(), name).not.toBe('');
      expect(command.helpInformation()).toContain(`Usage: simplane ${name}`);
    }
  });

  it('is grouped for the whole program, and lists the options of a single command', async () => {
    const [bare, group, one, version] = await Promise.all(
      [[], ['webhooks', '--help'], ['help', 'listen'], ['--version']].map((args) => startCli(args).ended),
    );
    expect(bare).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/eSIMs:[\s\S]*Webhooks and events:[\s\S]*Set up:/),
    });
    expect(group).toMatchObject({ code: 0, stdout: expect.stringContaining('rotate-secret') });
    expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/--forward-to[\s\S]*--base-url/) });
    expect(version).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

describe('sample data', () => {
  it('has every required field of every event type, valid against the contract', () => {
    for (const type of eventTypeNames) {
      const data = sampleDataOf(type);
      expect(Object.keys(data)).toEqual([...fieldsOfEvent(type).always]);
      for (const field of fieldsOfEvent(type).always) {
        const { valid } = new Validator(eventDataFields[field] as Schema).validate(data[field]);
        expect(valid, `${type} ${field}`).toBe(true);
      }
    }
  });
});

function argumentOf(argument: { required: boolean; name(): string }): string {
  return argument.required ? `<${argument.name()}>` : `[${argument.name()}]`;
}

/** The section on options that many commands take. */
function sharedOptions(text: string): string {
  const [, section = ''] = text.split('## Options that many commands take');
  return section.split('\n## ')[0] ?? '';
}
