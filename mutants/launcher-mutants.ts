import type { Mutant } from './mutant.ts';

const embedded = 'server/src/platform/db/embedded';
const unit = (name: string) => [`${embedded}/${name}.test.ts`];

/** Of the launcher of the embedded PostgreSQL: whose processes it ends, whose files it removes, and what it takes for granted. */
export const launcherMutants: Mutant[] = [
  {
    name: 'server-of-a-similar-folder-ended',
    file: `${embedded}/orphan.ts`,
    find: `\`/postgres -D \${cluster} -c \``,
    replace: `\`/postgres -D \${cluster}\``,
    tests: unit('orphan'),
    why: 'Only a server on this very folder is ended as an orphan.',
  },
  {
    name: 'single-user-server-overlooked',
    file: `${embedded}/orphan.ts`,
    find: 'Math.abs(Number.parseInt(text, 10))',
    replace: 'Number.parseInt(text, 10)',
    tests: unit('orphan'),
    why: 'A PostgreSQL in single-user mode, whose pid is negative in the lock file, has the cluster too.',
  },
  {
    name: 'any-folder-removed-as-that-of-a-socket',
    file: `${embedded}/socket-folder.ts`,
    find: '  if (!basename(folder).startsWith(prefix)) return;\n',
    replace: '  void basename;\n',
    tests: unit('socket-folder'),
    why: 'A file in the data folder cannot name a folder for removal.',
  },
  {
    name: 'claim-of-the-next-owner-removed',
    file: `${embedded}/ownership.ts`,
    find: 'if (current?.claim === owner.claim) await rm',
    replace: 'if (current !== undefined) await rm',
    tests: unit('ownership'),
    why: 'Whoever lost a claim does not remove that of the next owner: two servers would start on one folder.',
  },
  {
    name: 'owner-replaced-by-a-slow-process',
    file: `${embedded}/ownership.ts`,
    find: 'if ((await readText(path)) !== seen) continue;',
    replace: '',
    tests: unit('ownership'),
    why: 'Of two processes that find the owner gone, one starts its database on the folder.',
  },
  {
    name: 'owner-replaced-by-several-at-once',
    file: `${embedded}/ownership.ts`,
    find: 'await take(takeover, owner, folder);',
    replace: 'void take;',
    tests: unit('ownership'),
    why: 'Only one process at a time replaces an owner that is gone.',
  },
  {
    name: 'killed-takeover-in-the-way',
    file: `${embedded}/ownership.ts`,
    find: 'await take(takeover, owner, folder);',
    replace: 'if (!(await create(takeover, owner))) throw new DataFolderInUse(folder, 0, seen);',
    tests: unit('ownership'),
    why: 'A process that is killed while it replaces an owner is in nobody’s way.',
  },
  {
    name: 'half-a-password-used',
    file: `${embedded}/access.ts`,
    find: 'text.length >= passwordLength ? text : null',
    replace: 'text.length > 0 ? text : null',
    tests: unit('ownership'),
    why: 'After a power failure that cut the password file short, the next start sets a new password.',
  },
  {
    name: 'output-of-a-program-kept-whole',
    file: `${embedded}/run-command.ts`,
    find: '(tail + chunk).slice(-limitChars)',
    replace: '(tail + chunk).slice(-limitChars * 1_000_000)',
    tests: unit('run-command'),
    why: 'A server that logs for months fills no memory.',
  },
  {
    name: 'program-that-hangs-waited-for',
    file: `${embedded}/run-command.ts`,
    find: 'timeout: timeoutMs,',
    replace: 'timeout: timeoutMs * 0,',
    tests: unit('run-command'),
    why: 'A start does not wait for ever for a program that hangs.',
  },
  {
    name: 'program-with-an-odd-name-overlooked',
    file: `${embedded}/process-table.ts`,
    find: `stat.lastIndexOf(')')`,
    replace: `stat.indexOf(')')`,
    tests: unit('process-table'),
    why: 'The owner of a folder is found whatever its program is called.',
  },
  {
    name: 'ended-process-taken-for-the-owner',
    file: `${embedded}/process-table.ts`,
    find: `if (state === 'Z' || state === 'X' || startTicks`,
    replace: `if (state === 'X' || startTicks`,
    tests: unit('process-table'),
    why: 'A process that has ended owns no folder, also if its parent has not asked how.',
  },
];
