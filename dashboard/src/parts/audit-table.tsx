import type { AuditEntry, Page } from '@simplane/sdk';
import type { ReactNode } from 'react';
import { Breakable } from './breakable.tsx';
import { Id } from './id.tsx';
import { Said } from './said.tsx';
import { type Column, ListTable } from './table.tsx';
import { Time } from './time.tsx';

type Props<Entry> = {
  queryKey: readonly unknown[];
  read(page: { limit: number; starting_after?: string }): PromiseLike<Page<Entry>>;
  /** Columns that only one of the two views has. */
  extra?: readonly Column<Entry>[];
};

/** Who did what. The same table for an account and for the operator. */
export function AuditTable<Entry extends AuditEntry>({
  queryKey,
  read,
  extra = [],
}: Props<Entry>): ReactNode {
  return (
    <ListTable<Entry>
      caption="Audit log, newest first"
      what="the audit log"
      queryKey={queryKey}
      read={read}
      keyOf={({ id }) => id}
      empty="No entry yet."
      columns={[
        { name: 'When', cell: ({ created }) => <Time at={created} />, isTime: true },
        {
          name: 'Actor',
          cell: ({ actor }) => (
            <>
              {actor.name ?? actor.type.replace('_', ' ')} {actor.id !== null && <Id id={actor.id} />}
            </>
          ),
        },
        {
          name: 'Action',
          cell: ({ action }) => (
            <code>
              <Breakable text={action} />
            </code>
          ),
        },
        {
          name: 'Target',
          cell: ({ target }) => (
            <>
              <span className="quiet">{target.type.replace('_', ' ')}</span> <Id id={target.id} />
            </>
          ),
        },
        ...extra,
        {
          name: 'Changes',
          isWide: true,
          cell: ({ changes }) =>
            changes && <Said text={JSON.stringify(changes, null, 1).replaceAll(/\n\s*/g, ' ')} />,
        },
        { name: 'Via', cell: ({ via }) => via?.replace('_', ' ') ?? '–', isWide: true },
        { name: 'Address', cell: ({ ip }) => <code>{ip ?? '–'}</code>, isWide: true },
      ]}
    />
  );
}
