import type { Session } from '@simplane/sdk';
import type { Command } from 'commander';
import { withAction } from '../action.ts';
import { none, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Column } from '../print/table.ts';
import { idempotencyKeyOption, keyOf, type WriteOptions } from './idempotency-key.ts';

const columns: Column<Session>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'KEY', value: ({ api_key: key }) => key.name, cutTo: 12 },
  { title: 'ADDRESS', value: ({ ip }) => ip ?? none },
  { title: 'SIGNED IN', value: ({ created }) => time(created) },
  { title: 'ENDS', value: ({ expires_at: at }) => time(at), isSecondary: true },
  { title: 'BROWSER', value: ({ user_agent: agent }) => agent ?? none, cutTo: 20, isSecondary: true },
];

export function addSessions(program: Command): void {
  const sessions = program
    .command('sessions')
    .description('who is signed in to the dashboard; needs the admin scope');

  const list = withListOptions(sessions.command('list').description('list sessions, newest first'));
  withAction<{ limit: number; all?: boolean }>(list, ({ client, out }, options) =>
    printList(out, options, (query) => client.sessions.list(query), {
      columns,
      empty: 'Nobody is signed in.',
    }),
  );

  const revoke = sessions
    .command('revoke')
    .description('sign a session out, on every process')
    .argument('<id>', 'session id (sess_…)')
    .addOption(idempotencyKeyOption());
  withAction<WriteOptions>(revoke, async ({ client, out }, options, [id = '']) => {
    const ended = await client.sessions.revoke(id, keyOf(options));
    if (out.isJson) return out.json(ended);
    out.line(`Ended ${ended.id}.`);
  });
}
