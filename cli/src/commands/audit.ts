import { auditActions } from '@simplane/contract';
import type { AuditEntry } from '@simplane/sdk';
import { type Command, Option } from 'commander';
import { withAction } from '../action.ts';
import { none, time } from '../print/format.ts';
import { printList, withListOptions } from '../print/list.ts';
import type { Column } from '../print/table.ts';
import { readTime } from '../read-time.ts';

const columns: Column<AuditEntry>[] = [
  { title: 'CREATED', value: ({ created }) => time(created) },
  { title: 'ACTOR', value: ({ actor }) => actor.name ?? actor.type, cutTo: 12 },
  { title: 'ACTION', value: ({ action }) => action },
  { title: 'TARGET', value: ({ target }) => target.id },
  { title: 'CHANGES', value: ({ changes }) => (changes ? JSON.stringify(changes) : none), cutTo: 16 },
  { title: 'REQUEST', value: ({ request_id }) => request_id ?? none, isSecondary: true },
  { title: 'ADDRESS', value: ({ ip }) => ip ?? none, isSecondary: true },
  { title: 'VIA', value: ({ via }) => via ?? none, isSecondary: true },
  { title: 'ID', value: ({ id }) => id, isSecondary: true },
];

type ListOptions = {
  limit: number;
  all?: boolean;
  actor?: string;
  action?: AuditEntry['action'];
  target?: string;
  since?: number;
  until?: number;
};

export function addAudit(program: Command): void {
  const audit = program.command('audit').description('who changed what, and who saw activation codes');
  const list = withListOptions(audit.command('list').description('list the audit log, newest first'))
    .option('--actor <id>', 'only by this key (key_…), or by the operator')
    .addOption(new Option('--action <action>', 'only this action').choices([...auditActions]))
    .option('--target <id>', 'only about this object, or about the eSIM with this ICCID')
    .addOption(new Option('--since <time>', 'at or after: 2h (ago) or 2026-11-15').argParser(readTime))
    .addOption(new Option('--until <time>', 'before this time').argParser(readTime));
  withAction<ListOptions>(list, ({ client, out }, options) => {
    const filters = {
      ...(options.actor !== undefined && { actor: options.actor }),
      ...(options.action !== undefined && { action: options.action }),
      ...(options.target !== undefined && { target: options.target }),
      ...(options.since !== undefined && { 'created[gte]': options.since }),
      ...(options.until !== undefined && { 'created[lt]': options.until }),
    };
    return printList(out, options, (query) => client.auditLog.list({ ...query, ...filters }), {
      columns,
      empty: 'No entries.',
    });
  });
}
