import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { markdownPages, root, type ShellBlock, shellBlocksOf } from '../support/shell-blocks.ts';
import { shellHazards } from '../support/shell-hazards.ts';
import { until } from '../support/until.ts';
import { notPasted } from './not-pasted.ts';

/** Every block of every page, the README first, as a new user reads them. */
const blocks = (await Promise.all((await markdownPages()).map(shellBlocksOf))).flat();
const pages = [...new Set(blocks.map(({ page }) => page))];
const pastedPages = [...new Set(blocks.filter(isPasted).map(({ page }) => page))];

// The README takes 45 s at a load of 20, most of it npx.
const pasteTimeoutMs = 280_000;

/** What a page's commands must print in the end, besides not failing. */
const outcomes: Record<string, RegExp> = {
  'README.md': /"lpa":"LPA:1\$[\s\S]*INSERTED/,
  'docs/sandbox.md': /bundle\.depleted/,
  'docs/events.md': /event: esim\.activated[\s\S]*"caught_up":true[\s\S]*"name":"billing"/,
  'docs/operations.md': /"kind":"mock"[\s\S]*RATE +LAST_MINUTE[\s\S]*"role": "all"/,
  'docs/install-links.md': /"object":"install_link"[\s\S]*"url":"http:/,
  'docs/usage.md': /"accepted":2,"duplicates":0,"rejected":0/,
  'docs/webhooks.md': /"object":"delivery"[\s\S]*"object":"recovery"/,
  'docs/agents.md': /provision_esim/,
  'examples/webhook-receiver/README.md': /evt_\w+ esim\.provisioned {"iccid"/,
};

function isPasted({ page, text }: ShellBlock): boolean {
  return !notPasted.some((entry) => entry.page === page && text.startsWith(entry.begins));
}

describe('the commands in the documentation', () => {
  test.each(pages)('%s has none that bash and zsh read differently', (page) => {
    for (const { text, line } of blocks.filter((block) => block.page === page)) {
      expect(shellHazards(text), `${page}:${line}`).toEqual([]);
    }
  });

  test('are all run below, or listed with a reason that is still needed', () => {
    expect(blocks.length).toBeGreaterThan(25);
    const unused = notPasted.filter(
      ({ page, begins }) => !blocks.some((block) => block.page === page && block.text.startsWith(begins)),
    );
    expect(unused).toEqual([]);
  });

  test('the check finds each hazard, and nothing in quotes', () => {
    const hazards = [
      'npm start   # the sandbox',
      '# a comment',
      'curl $BASE/v1/esims?limit=1',
      'simplane listen --events esim.*',
      'echo a[1]',
      'echo "really!"',
      'echo =ls',
      'keys revoke key_…',
      'simplane esims get <iccid>',
      "echo 'open",
      'X=$(curl "$A" | grep -o [0-9])',
    ];
    for (const text of hazards) expect(shellHazards(text), text).toHaveLength(1);
    const harmless = [
      `curl "$BASE/v1/esims?limit=1" -d '{"a": ["*", "!"]}'`,
      `X=$(echo "$Y" | grep -o 'we_[0-9a-z]*')`,
      'until [ -n "$X" ]; do sleep 1; done',
      'api() { curl -s "$@"; echo; }',
      'export A=1 B=$(cat .simplane/sandbox-api-key)',
      `-d '{"iccid": "'"$ICCID"'"}'`,
    ];
    for (const text of harmless) expect(shellHazards(text), text).toEqual([]);
  });
});

test('docs/catalog.md shows the file that its command imports', async () => {
  const [page, file] = await Promise.all(
    ['docs/catalog.md', 'examples/catalog.json'].map((path) => readFile(join(root, path), 'utf8')),
  );
  expect(page).toContain(`\`\`\`json\n${file}\`\`\``);
});

// The marker is split, so that the shell's echo of this line does not contain it.
const shells = [
  {
    name: 'bash',
    args: ['--norc', '--noprofile', '-i'],
    trap: `trap 'echo "paste"-failed: $BASH_COMMAND' ERR`,
  },
  { name: 'zsh', args: ['-f', '-i'], trap: 'TRAPZERR() { echo "paste"-failed: the command above; }' },
];

const installed = shells.filter(({ name }) => spawnSync(name, ['--version']).status === 0);

// npx takes longer than what it runs, and does not know which shell or page called it: this page, with both programs, calls the real one.
const realNpx = { shell: installed[0]?.name, page: 'docs/usage.md' };

/** What npx does with the programs of a checkout, but with their bundles, which load faster. */
const plainNpx = `#!/bin/sh
program=$1; shift
exec node '${inject('programs')}'/"$program".mjs "$@"
`;

// The check of hazards tells what zsh would read differently; this one shows that the check is right.
const pagesFor = (shell: string) =>
  shell === installed[0]?.name ? pastedPages : ['README.md', 'docs/webhooks.md'];

describe.each(installed)('pasted into $name beside a fresh sandbox', ({ name, args, trap }) => {
  let folder: string;
  let server: ServerProcess;
  let receiverPort: number;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), `simplane-paste-${name}-`));
    // A checkout with a `.simplane` of its own.
    for (const entry of ['node_modules', 'examples']) await symlink(join(root, entry), join(folder, entry));
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/npx'), plainNpx, { mode: 0o755 });
    server = await spawnServer({}, { cwd: folder, isBundled: name !== realNpx.shell });
    receiverPort = await freePort();
  });
  afterAll(async () => {
    await server.end('SIGTERM');
    await rm(folder, { recursive: true, force: true });
  });

  test.each(pagesFor(name))(
    'the commands of %s work in order',
    { timeout: pasteTimeoutMs + 20_000 },
    async (page) => {
      const port = new URL(server.url).port;
      const text = blocks
        .filter((block) => block.page === page && isPasted(block))
        .map((block) => block.text)
        .join('\n')
        .replaceAll('127.0.0.1:4000', `127.0.0.1:${port}`)
        .replaceAll('127.0.0.1:3000', `127.0.0.1:${receiverPort}`);
      const isReal = name === realNpx.shell && page === realNpx.page;
      const printed = await paste(text, {
        outcome: outcomes[page],
        ownPrograms: isReal ? [] : [join(folder, 'bin')],
      });
      expect(printed).not.toMatch(
        /paste-failed|^(bash|zsh)(: line \d+)?: (?!no job control|cannot set terminal)/m,
      );
      // curl succeeds with an error document too.
      expect(printed).not.toMatch(/"error": ?{"type": ?"\w+_error"/);
    },
  );

  /** Types the text into an interactive shell, and returns what the terminal would show. */
  async function paste(
    text: string,
    { outcome = /(?:)/, ownPrograms }: { outcome?: RegExp | undefined; ownPrograms: string[] },
  ): Promise<string> {
    const shell = spawn(name, args, {
      cwd: folder,
      detached: true, // so that receivers in the background end with it
      env: {
        PATH: [...ownPrograms, process.env['PATH']].join(':'),
        HOME: folder,
        TERM: 'dumb',
        PS1: '',
        PORT: String(receiverPort),
        npm_config_update_notifier: 'false',
      },
    });
    let printed = '';
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (chunk) => (printed += chunk));
    try {
      shell.stdin.write(`${trap}\n${text}\necho paste-'done'\n`);
      await until(
        async () => ({ printed, hasEnded: shell.exitCode !== null || shell.signalCode !== null }),
        (seen) => seen.hasEnded || (/paste-done/.test(seen.printed) && outcome.test(seen.printed)),
        pasteTimeoutMs,
      ).catch(() => {});
    } finally {
      killGroup(shell.pid as number);
    }
    expect(printed).toContain('paste-done');
    expect(printed).toMatch(outcome);
    return printed;
  }
});

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {} // everything in it has ended
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
