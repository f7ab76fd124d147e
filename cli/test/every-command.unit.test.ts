import type { Argument, Command, Option } from 'commander';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProgram } from '../src/program.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-19T12:00:00Z') });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** They run until they are stopped, or send nothing. */
const left = ['events tail', 'listen', 'mcp', 'completion'];

/** Of arguments and options, by what the help calls their values. */
const values: Record<string, string> = {
  ...{ n: '7', quantity: '3', duration: '2h', interval: 'day', size: '1MB', percents: '50,80', code: 'DE' },
  ...{ time: '2026-11-01T08:00:00Z', 'name=value': 'a=b', types: 'esim.*,my.type', json: '{"a":1}' },
  ...{ url: 'https://example.com/x', method: 'POST', path: '/v1/esims', scopes: 'read', cidrs: '10.0.0.0/8' },
};

/** Options that decide how long to wait, or where to print. */
const withoutRequest = [
  '--wait',
  '--timeout',
  '--out',
  '--output',
  '--format',
  '--invert',
  '--qr',
  '--all',
  '--help',
];

function valueFor(name: string, choices: string[] | undefined): string {
  return choices?.[0] ?? values[name] ?? `${name}-value`;
}

const ofArgument = (argument: Argument) => valueFor(argument.name(), argument.argChoices);

function ofOption({ long, flags, argChoices }: Option): string[] {
  const [, value] = /<(.*)>/.exec(flags) ?? [];
  if (!long || withoutRequest.includes(long)) return [];
  if (value === undefined) return [long];
  if (long === '--until') return [long, '2026-11-02T08:00:00Z'];
  // Several options of one command have an id, or a list.
  const name = value === 'id' || value === 'list' ? long.replace(/.*-/, '') : value;
  return [long, valueFor(name, argChoices)];
}

/** What of a command's options to leave out, where they exclude each other. */
const exclusive: Record<string, string[][]> = {
  'esims create': [
    ['--product', '--dry-run'],
    ['--product', '--idempotency-key'],
  ],
  'deliveries list': [['--event'], ['--endpoint', '--status']],
};

/** The options of a command: all, what it needs, and a dry run if it has one. */
function givenTo(name: string, { options }: Command): string[][] {
  const without = (left: string[]) =>
    options.filter(({ long }) => !left.includes(long ?? '')).flatMap(ofOption);
  const isDry = options.some(({ long }) => long === '--dry-run');
  const all = exclusive[name] ?? (isDry ? [['--dry-run'], ['--idempotency-key']] : [[]]);
  const needed = options.filter(({ mandatory }) => mandatory).flatMap(ofOption);
  const given = [...all.map(without), needed].map((one) => one.join(' '));
  return [...new Set(given)].map((one) => one.split(' ').filter((part) => part !== ''));
}

function leavesOf(command: Command, path: string[] = []): { name: string; command: Command }[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((one) => leavesOf(one, [...path, one.name()]));
}

async function sentBy(args: readonly string[]): Promise<string[]> {
  const sent: string[] = [];
  const said: string[] = [];
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0);
  vi.stubGlobal('fetch', async (url: string, { method, headers, body }: RequestInit) => {
    const { pathname, search } = new URL(url);
    const key = new Headers(headers).get('Idempotency-Key');
    const shownKey = key === null ? [] : [`key: ${key === 'key-value' ? 'given' : 'random'}`];
    sent.push(
      [
        `${method} ${pathname}${decodeURIComponent(search)}`,
        ...(body ? [String(body)] : []),
        ...shownKey,
      ].join('  '),
    );
    return Response.json({
      id: 'x',
      object: 'list',
      data: [],
      has_more: false,
      scopes: [],
      hours: [],
      allowed_cidrs: [],
      products: [],
    });
  });
  const to = ['--base-url', 'http://127.0.0.1:9', '--api-key', 'sp_test_1', '--json'];
  const before = process.exitCode;
  await createProgram().parseAsync(['node', 'simplane', ...args, ...to]);
  process.exitCode = before;
  return sent.length > 0 ? sent : said;
}

test('every command sends what it always has, with all its options, and with none', async () => {
  const lines: string[] = [];
  for (const { name, command } of leavesOf(createProgram())) {
    if (left.includes(name)) continue;
    const args = [...name.split(' '), ...command.registeredArguments.map(ofArgument)];
    for (const given of givenTo(name, command)) {
      const sent = await sentBy([...args, ...given]);
      lines.push([...args, ...given].join(' '), ...sent.map((request) => `  ${request.trimEnd()}`));
    }
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./every-command.txt');
});
