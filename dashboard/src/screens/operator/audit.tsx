import type { AuditEntry } from '@simplane/sdk';
import { useClients } from '../../client.ts';
import { AuditFilters, useAuditQuery } from '../../parts/audit-filters.tsx';
import { AuditTable } from '../../parts/audit-table.tsx';
import { Id } from '../../parts/id.tsx';
import { PageHeader, Panel } from '../../parts/panel.tsx';

type Entry = AuditEntry & { account_id: string | null };

export default function OperatorAudit() {
  const { operator } = useClients();
  const query = useAuditQuery();
  return (
    <>
      <PageHeader title="Audit log" about="Entries of all accounts and of the deployment." />
      <Panel title="Entries" aside={<AuditFilters />}>
        <AuditTable<Entry>
          queryKey={['operator', 'audit_log', query]}
          read={(page) => operator.auditLog.list({ ...page, ...query })}
          extra={[
            {
              name: 'Account',
              cell: ({ account_id: id }) => (id === null ? '–' : <Id id={id} to={`/accounts/${id}`} />),
            },
          ]}
        />
      </Panel>
    </>
  );
}
