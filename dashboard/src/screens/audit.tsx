import type { AuditEntry } from '@simplane/sdk';
import { mayDo, useClients } from '../client.ts';
import { AuditFilters, useAuditQuery } from '../parts/audit-filters.tsx';
import { AuditTable } from '../parts/audit-table.tsx';
import { PageHeader, Panel } from '../parts/panel.tsx';

export default function Audit() {
  const clients = useClients();
  const query = useAuditQuery();
  if (!mayDo(clients, 'admin') && !clients.isOperator) {
    return (
      <>
        <PageHeader title="Audit log" />
        <p className="notice">Reading the audit log needs a key with the scope “admin”.</p>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Audit log" about="Who changed what in this account. Entries are kept for a year." />
      <Panel title="Entries" aside={<AuditFilters />}>
        <AuditTable<AuditEntry>
          queryKey={['audit_log', query]}
          read={(page) => clients.api.auditLog.list({ ...page, ...query })}
        />
      </Panel>
    </>
  );
}
